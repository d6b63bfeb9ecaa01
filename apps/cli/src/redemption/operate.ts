import {
  CallbackStore,
  type Database,
  type EvidenceSeal,
  PartnerMissingError,
  RedemptionMissingError,
  RedemptionStore,
} from '#libs/db';
import { type EventOf, type Redemption, transition, type UuidV7 } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { audited, type AuditedCommand } from '../operator/audited.js';
import { RefusedOperationError } from './refused-operation.js';

/** What an operator may say happened. Nothing here pays, and nothing proves a payout dead. */
export type OperatorEvent = EventOf<
  | 'cancel'
  | 'operator-retry'
  | 'operator-set-transaction'
  | 'operator-restored'
  | 'operator-not-deducted'
  | 'operator-settled'
>;

export interface Operation extends AuditedCommand {
  readonly id: UuidV7;
  readonly event: OperatorEvent;
  /** Vouches for the transaction that the event names. */
  readonly seal?: EvidenceSeal;
  /** Asked once the rules allow it and before anything is written; throws where the answer is no. */
  readonly confirm?: (redemption: Redemption) => Promise<void>;
}

export interface Operated {
  readonly before: Redemption;
  readonly after: Redemption;
}

/**
 * Lets the domain decide on an operator's event and writes what it decided, with the audit's row, under the version that was
 * read. What follows from it (calls, payouts, confirmations) is the service's to do.
 * @throws RefusedOperationError, RedemptionMissingError, StaleRedemptionError, PartnerIdReusedError; nothing but an audit row is
 * written then
 */
export async function operate(
  database: Database,
  clock: Clock,
  { id, event, seal, confirm, ...command }: Operation,
): Promise<Operated> {
  const store = new RedemptionStore(database, seal);
  const stored = await store.get(id);
  const concerned = { redemptionId: id, ...(stored && { partner: stored.redemption.partner }) };
  return audited(database, command, concerned, async () => {
    if (stored === undefined) throw new RedemptionMissingError(id);
    const before = stored.redemption;
    const decide = async () => {
      const policy = await new CallbackStore(database).find(before.partner);
      if (policy === undefined) throw new PartnerMissingError();
      const decision = transition(before, event, {
        nowMs: clock.nowMs(),
        jitter: Math.random(),
        policy,
      });
      if (decision.kind === 'refused') throw new RefusedOperationError(decision);
      return decision;
    };
    let decision = await decide();
    if (confirm !== undefined) {
      await confirm(before);
      // A person takes a while.
      decision = await decide();
    }
    const { actor, command: name, arguments: given = {} } = command;
    const audit = { command: name, arguments: given, outcome: `now ${decision.next.state}` };
    const vouched = seal && ({ stored, vouchesForNames: true } as const);
    await store.apply({ before, decision, event: event.type, actor, audit, ...vouched });
    return { before, after: decision.next };
  });
}
