import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { type Database, DeliveryStore, RedemptionMissingError, RedemptionStore } from '#libs/db';
import { deliveryTransition, PermanentError, type UuidV7 } from '#libs/domain';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { audited } from '../operator/audited.js';
import { redemptionId } from '../redemption/redemption-id.js';
import { withDatabase } from '../with-database.js';

const COMMAND = 'redemption replay-confirm';

/** `redemption replay-confirm`: another round of the same confirmation. The redemption stays as it is. */
export function redemptionReplayConfirmCommand(context: CommandContext): Command {
  return new Command('replay-confirm')
    .description('send the confirmation of a finished redemption again')
    .argument('<id>', 'the redemption', redemptionId)
    .addOption(actorOption())
    .action(async (id: UuidV7, options: { readonly as?: string }) => {
      const settings = readSettings(OperatorSettings, context.source());
      const actor = actorOf(options);
      await withDatabase(settings.databaseUrl, (database) =>
        replay(database, { id, actor, nowMs: context.clock.nowMs() }),
      );
      context.terminal.out(`The confirmation of redemption ${id} is sent again at once.\n`);
    });
}

async function replay(
  database: Database,
  { id, actor, nowMs }: { readonly id: UuidV7; readonly actor: string; readonly nowMs: number },
): Promise<void> {
  const stored = await new RedemptionStore(database).get(id);
  const concerned = { redemptionId: id, ...(stored && { partner: stored.redemption.partner }) };
  await audited(database, { actor, command: COMMAND }, concerned, async () => {
    if (stored === undefined) throw new RedemptionMissingError(id);
    const deliveries = new DeliveryStore(database);
    const found = await deliveries.get(id);
    if (found === undefined) throw notOwed();
    const { delivery: before } = found;
    const decision = deliveryTransition(
      before,
      { type: 'replay' },
      { nowMs, jitter: Math.random() },
    );
    if (decision.kind === 'refused') throw stillTrying();
    const audit = { actor, command: COMMAND };
    await deliveries.apply({ redemptionId: id, before, next: decision.next, audit });
  });
}

function notOwed(): PermanentError {
  return new PermanentError(
    'NO_CONFIRMATION',
    'No confirmation is owed: the redemption is not claimed or reverted, or its partner took none when it ended.',
  );
}

function stillTrying(): PermanentError {
  return new PermanentError(
    'STILL_TRYING',
    'The confirmation is still being sent: `redemption show` says how often so far.',
  );
}
