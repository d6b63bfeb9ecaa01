import { type Database, DeliveryStore } from '#libs/db';
import { deliveryTransition, PermanentError, type UuidV7 } from '#libs/domain';
import { type AuditedCommand, onRedemption } from '../audit/audited.js';

/**
 * Another round of the same confirmation. The redemption stays as it is.
 * @throws RedemptionMissingError, PermanentError where none is owed or it is still being sent
 */
export function replayConfirmation(
  database: Database,
  command: AuditedCommand,
  id: UuidV7,
  nowMs: number,
): Promise<void> {
  return onRedemption(database, { ...command, id }, async () => {
    const deliveries = new DeliveryStore(database);
    const found = await deliveries.get(id);
    if (found === undefined) {
      throw new PermanentError(
        'NO_CONFIRMATION',
        'No confirmation is owed: the redemption is not claimed or reverted, or its partner took none when it ended.',
      );
    }
    const { delivery: before } = found;
    const context = { nowMs, jitter: Math.random() };
    const decision = deliveryTransition(before, { type: 'replay' }, context);
    if (decision.kind === 'refused') {
      throw new PermanentError(
        'STILL_TRYING',
        'The confirmation is still being sent: `redemption show` says how often so far.',
      );
    }
    const { next } = decision;
    await deliveries.apply({ redemptionId: id, before, next, audit: command });
  });
}
