/** Operators' operations on a redemption: the domain decides, and the store writes. */
import {
  CallbackStore,
  type Database,
  DeliveryStore,
  type EvidenceSeal,
  PartnerMissingError,
} from '#libs/db';
import {
  deliveryTransition,
  PermanentError,
  type Redemption,
  type Refusal,
  type RefusalCode,
  transition,
  type UuidV7,
} from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type AuditedCommand, onRedemption } from '../audit/audited.js';
import { type ActionWords, asCommand, asTitle } from '../text/action-words.js';
import { type OperatorEvent } from './actions.js';

export interface OperatedEvent extends AuditedCommand {
  readonly id: UuidV7;
  readonly event: OperatorEvent;
  /** Makes the MAC that vouches for the transaction in the event. */
  readonly seal?: EvidenceSeal;
  /** Called after the rules have allowed the event and before anything is written. Throws to refuse. */
  readonly confirm?: (redemption: Redemption) => Promise<void>;
}

export interface Operated {
  readonly before: Redemption;
  readonly after: Redemption;
}

/**
 * Lets the domain decide on an operator's event, and writes the decision with its audit row, provided that the version
 * is still the one that was read. The redemption service then does what follows: calls, payouts, confirmations.
 * @throws RefusedOperationError, RedemptionMissingError, StaleRedemptionError, PartnerIdReusedError; then only an audit
 * row is written
 */
export function operate(
  database: Database,
  clock: Clock,
  { event, confirm, ...operation }: OperatedEvent,
): Promise<Operated> {
  return onRedemption(database, operation, async (stored, store) => {
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
      // A person may take a while to confirm, so the rules decide again.
      decision = await decide();
    }
    const { actor, command, arguments: given = {}, seal } = operation;
    const audit = { command, arguments: given, outcome: `now ${decision.next.state}` };
    const vouched = seal && ({ stored, vouchesForNames: true } as const);
    await store.apply({ before, decision, event: event.type, actor, audit, ...vouched });
    return { before, after: decision.next };
  });
}

const REMEDIES: Readonly<Partial<Record<RefusalCode, (say: ActionWords) => string>>> = {
  final: () => 'Nothing can be changed any more; `redemption show` has its end.',
  'needs-operator': () => 'Settle it: `redemption show` says with which command.',
  'not-in-attention': (say) =>
    `\`redemption show\` says what it waits for; ${say('retry')} does it now, ${say('cancel')} ends it.`,
  'call-open': () => 'A call to the partner is under way: try again in a minute.',
  'vault-not-asked': (say) =>
    `The service asks the vault before it gives points back: ${say('retry')}, and again when its call has been made.`,
  'too-late-to-cancel': (say) =>
    `There is nothing to cancel any more: ${say('retry')} asks for the points now.`,
  'not-yet-cancellable': (say) =>
    `${say('retry')} asks the partner now; ${say('set-partner-tx')} and ${say('not-deducted')} say what the partner has told you.`,
  'not-restorable': (say) =>
    `Points go back only once a final block proves that the tokens cannot move: ${say('retry')} lets the service look again.`,
  'transaction-id-known': (say) => `Use ${say('retry')}, which reverts that transaction.`,
  'deduction-proven': (say) =>
    `Points that were given back by hand are settled with ${say('restored-out-of-band')}.`,
  'contradictory-evidence': (say) =>
    `Settle it with the partner, then ${say('settled-by-hand')}; the row stays as the proof.`,
  'not-contradictory': () => '`redemption show` says how.',
  'invalid-transaction-id': () => 'Take it from the partner exactly, without line breaks.',
};

/** The rules do not allow the event. Nothing was changed. */
export class RefusedOperationError extends PermanentError {
  readonly refusal: RefusalCode;
  /** What to do instead; undefined where the domain's own message says so. */
  readonly instead: string | undefined;
  /** The message with the titles of actions in the place of their commands. */
  readonly onPages: string;

  constructor({ code, message }: Refusal) {
    const remedy = REMEDIES[code];
    const instead = remedy?.(asCommand);
    const text = instead === undefined ? message : `${message} ${instead}`;
    super(code.replaceAll('-', '_').toUpperCase(), text);
    this.refusal = code;
    this.instead = instead;
    this.onPages = remedy === undefined ? message : `${message} ${remedy(asTitle)}`;
  }
}

/**
 * Sends the same confirmation again, in a new round of attempts. The redemption does not change.
 * @throws RedemptionMissingError, PermanentError where no confirmation is owed or it is still being sent
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
