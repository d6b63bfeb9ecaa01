/** Actions that an operator may take on a redemption. The domain decides what is allowed; no rule is repeated here. */
import { decimalText, type RedemptionHistory } from '#libs/db';
import {
  deliveryTransition,
  type EventOf,
  newDelivery,
  type PartnerPolicy,
  type Redemption,
  revertTarget,
  transition,
} from '#libs/domain';

/** Events that an operator may report. None of them pays, and none proves that a payout is dead. */
export type OperatorEvent = EventOf<
  | 'cancel'
  | 'operator-retry'
  | 'operator-set-transaction'
  | 'operator-restored'
  | 'operator-not-deducted'
  | 'operator-settled'
>;

const FINAL = 'This is final: nothing takes it back.';

export const LONGEST_NOTE = 255;

/** Whether the text can be the note of a settlement: one line, not empty, at most LONGEST_NOTE characters. */
export function isSettlementNote(text: string): boolean {
  return text.trim() !== '' && text.length <= LONGEST_NOTE && !/\p{Cc}/u.test(text);
}

/** What the operator has to give with an action: a field of its operation. */
export const ACTION_INPUTS = ['transaction', 'settledByHand'] as const;
export type ActionInput = (typeof ACTION_INPUTS)[number];

/** For each action the command that does the same, as the audit log names it. Pages show the actions in this order. */
export const ACTION_COMMANDS = {
  retry: 'redemption retry',
  cancel: 'redemption cancel',
  'set-partner-tx': 'redemption set-partner-tx',
  'restored-out-of-band': 'redemption resolve',
  'not-deducted': 'redemption resolve',
  'settled-by-hand': 'redemption resolve',
  'replay-confirm': 'redemption replay-confirm',
} as const;

export type ActionName = keyof typeof ACTION_COMMANDS;
export const ACTION_NAMES = Object.keys(ACTION_COMMANDS) as ActionName[];

export interface OperatorAction {
  readonly action: ActionName;
  readonly command: string;
  readonly title: string;
  /** Text for the operator to read before the action. */
  readonly consequence: string;
  readonly input: ActionInput | undefined;
  /** The other fields of its operation by which the action is known. */
  readonly fields: Readonly<Record<string, true>>;
  /** Nothing takes it back. */
  readonly isFinal: boolean;
}

export interface Candidate {
  readonly action: Exclude<ActionName, 'replay-confirm'>;
  readonly title: string;
  readonly event: OperatorEvent;
  readonly input?: ActionInput;
  readonly fields?: Readonly<Record<string, true>>;
  readonly isFinal?: true;
  readonly consequence: (before: Redemption, after: Redemption, policy: PartnerPolicy) => string;
}

export const CANDIDATES: readonly Candidate[] = [
  {
    action: 'retry',
    title: 'Go on now',
    event: { type: 'operator-retry' },
    consequence: (before, after, policy) => {
      const { id, state } = before;
      if (returnsToAttention(before, after, policy)) {
        return `Redemption ${id} comes back to attention: no call to the partner is left that could find out. It helps once the partner has the capability revert-by-redemption-id.`;
      }
      return state === after.state
        ? `The service takes redemption ${id} up now and does not wait for its time.`
        : `Redemption ${id} leaves ${state}: the service goes on with it as ${after.state}.`;
    },
  },
  {
    action: 'cancel',
    title: 'Cancel',
    event: { type: 'cancel', by: 'operator' },
    isFinal: true,
    consequence: ({ id, points, wallet }, { state }) => {
      if (state === 'failed') return `Redemption ${id} ends as failed: no points were taken.`;
      return state === 'reverting'
        ? `Redemption ${id} is no longer paid: the partner is asked to give ${points.toString()} points back to ${wallet}.`
        : `The vault is asked to cancel the voucher of redemption ${id}; where it was claimed first, the claim counts.`;
    },
  },
  {
    action: 'set-partner-tx',
    title: 'Give the partner’s transaction id',
    // The rules do not depend on the value of the id, so any id serves to ask them.
    event: { type: 'operator-set-transaction', partnerTransactionId: 'id' },
    input: 'transaction',
    isFinal: true,
    consequence: ({ id, points, wallet }) =>
      `The transaction stays that of redemption ${id} for good: the partner is asked to revert it, which gives ${points.toString()} points back to ${wallet}.`,
  },
  // What the partner has told the operator and no call can verify.
  {
    action: 'restored-out-of-band',
    title: 'End it: the partner gave the points back by hand',
    event: { type: 'operator-restored' },
    fields: { restoredOutOfBand: true },
    isFinal: true,
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} ends as reverted: the partner has given ${points.toString()} points back to ${wallet} by hand. ${FINAL}`,
  },
  {
    action: 'not-deducted',
    title: 'End it: the partner took no points',
    event: { type: 'operator-not-deducted' },
    fields: { notDeducted: true },
    isFinal: true,
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} ends as failed: the partner has never taken ${points.toString()} points from ${wallet}. ${FINAL}`,
  },
  {
    action: 'settled-by-hand',
    title: 'Close it: settled with the partner by hand',
    event: { type: 'operator-settled' },
    input: 'settledByHand',
    isFinal: true,
    consequence: ({ id, points, wallet }) =>
      `Redemption ${id} stays as it is and no longer needs attention: ${wallet} has the tokens, and what became of its ${points.toString()} points is settled with the partner. ${FINAL}`,
  },
];

interface Standing {
  readonly redemption: Redemption;
  readonly confirmation: RedemptionHistory['confirmation'];
}

export interface ActionContext {
  readonly nowMs: number;
  /** The settings of the redemption's partner. */
  readonly policy: PartnerPolicy;
}

/** The actions allowed now, in the order of a page. A retry that leads back to `attention` follows the other events. */
export function allowedActions(
  { redemption, confirmation }: Standing,
  { nowMs, policy }: ActionContext,
): OperatorAction[] {
  const ways: OperatorAction[] = [];
  const returningRetries: OperatorAction[] = [];
  for (const { event, consequence, ...candidate } of CANDIDATES) {
    const decision = transition(redemption, event, { nowMs, jitter: 0, policy });
    if (decision.kind === 'refused') continue;
    const { next } = decision;
    const { action, title, input, fields = {}, isFinal = false } = candidate;
    const command = ACTION_COMMANDS[action];
    const told = consequence(redemption, next, policy);
    const kind =
      action === 'retry' && returnsToAttention(redemption, next, policy) ? returningRetries : ways;
    kind.push({ action, command, title, input, fields, isFinal, consequence: told });
  }
  const allowed = [...ways, ...returningRetries];
  return mayReplay(confirmation, nowMs)
    ? [...allowed, replayOf(redemption, confirmation?.deliveredAt != null)]
    : allowed;
}

/**
 * The worth of an action in USD; null if it moves no value: a retry outside `attention` does what the service would do
 * anyway, and a confirmation only informs the partner.
 */
export function worthUsd(action: ActionName, { state, usdAmount }: Redemption): string | null {
  const movesValue = action !== 'replay-confirm' && (action !== 'retry' || state === 'attention');
  return movesValue ? decimalText(usdAmount) : null;
}

/** Whether a retry would end in `attention` again, because no revert call can name the deduction. */
function returnsToAttention(before: Redemption, after: Redemption, policy: PartnerPolicy): boolean {
  return (
    before.state === 'attention' &&
    after.state === 'reverting' &&
    revertTarget(after, policy) === undefined
  );
}

function mayReplay(confirmation: Standing['confirmation'], nowMs: number): boolean {
  if (confirmation === null) return false;
  const delivery = { ...newDelivery(nowMs), state: confirmation.state };
  return deliveryTransition(delivery, { type: 'replay' }, { nowMs, jitter: 0 }).kind === 'moved';
}

export const REPLAY_TITLE = 'Send the confirmation again';

function replayOf({ id }: Redemption, wasDelivered: boolean): OperatorAction {
  const before = wasDelivered ? 'which the partner has taken before' : 'which it has never taken';
  return {
    action: 'replay-confirm',
    command: ACTION_COMMANDS['replay-confirm'],
    title: REPLAY_TITLE,
    consequence: `The confirmation of redemption ${id}, ${before}, is sent to the partner again at once. The redemption stays as it is.`,
    input: undefined,
    fields: {},
    isFinal: false,
  };
}
