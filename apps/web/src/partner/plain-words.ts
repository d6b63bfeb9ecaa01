/** Translates terms of the ledger to plain words for partners. Unknown terms are shown as they are. */
import { type ConsoleBody } from '../api/console-client';

type State = ConsoleBody<'OwnRedemption'>['state'];
type Words = Readonly<Record<string, string>>;

const STATES: Readonly<Record<State, string>> = {
  created: 'begun',
  deducting: 'points are being taken',
  deducted: 'points are taken',
  authorised: 'ready to be claimed',
  reverting: 'points are being given back',
  attention: 'waits for our operator',
  claimed: 'claimed',
  reverted: 'points are given back',
  failed: 'failed; no points were taken',
};

/** All states, in the order in which a page lists them. */
export const STATE_NAMES = Object.keys(STATES) as readonly State[];

const REASONS: Words = {
  'user-cancelled': 'the player cancelled',
  'operator-cancelled': 'our operator cancelled',
  'system-cancelled': 'we cancelled',
  'deduction-unknown': 'it is not known whether you took the points',
  'payout-unavailable': 'no tokens could be reserved',
  'claim-timeout': 'the player did not claim in time',
  'budget-spent': 'the budget of the day is spent',
  'quote-expired': 'the quote expired',
  'partner-unreachable': 'you could not be reached',
  'insufficient-points': 'the player has too few points',
  'user-not-found': 'you do not know the player',
  'never-deducted': 'you never took the points',
  'transaction-id-reused': 'your transaction id belongs to another redemption',
  'deduction-unresolved': 'it could not be found out whether you took the points',
  'transaction-not-found': 'you do not know the deduction',
  'amount-disputed': 'you name another amount',
  'revert-exhausted': 'giving the points back was tried to the end',
  'payout-unresolved': 'it could not be found out whether the tokens were paid',
  'paid-after-dead': 'the tokens were paid after all',
  'claimed-without-plan': 'tokens were claimed without a plan of ours',
  'evidence-invalid': 'the record was altered',
  'operator-retried': 'our operator has it tried again',
  'restored-out-of-band': 'the points were given back by hand',
  'not-deducted-out-of-band': 'our operator found that no points were taken',
  'settled-by-hand': 'our operator settled it by hand',
};

const EVENTS: Words = {
  create: 'the player asked for it',
  'balance-refused': 'your balance shows too few points, or no player',
  'balance-unknown': 'the balance could not be read from you',
  'call-due': 'the next call to you was due',
  'evidence-rejected': 'the record was altered',
  'deduct-confirmed': 'you took the points',
  'deduct-id-reused': 'your transaction id belongs to another redemption',
  'deduct-refused': 'you refused to take the points',
  'deduct-duplicate': 'you had taken the points before',
  'deduct-unknown': 'your answer did not say whether you took the points',
  'deduct-not-sent': 'the call to you could not be sent',
  'plan-committed': 'the payout was prepared',
  'plan-failed': 'the payout could not be prepared',
  'payout-live': 'the tokens can still be claimed',
  'payout-paid': 'the tokens were paid',
  'payout-dead': 'the tokens can no longer be claimed',
  'revert-confirmed': 'you gave the points back',
  'revert-already': 'you had given the points back before',
  'revert-not-found': 'you do not know the deduction',
  'revert-amount-disputed': 'you name another amount',
  'revert-not-sent': 'the call to you could not be sent',
  'revert-unknown': 'your answer did not say whether you gave the points back',
  cancel: 'it was cancelled',
  'operator-retry': 'our operator has it tried again',
  'operator-set-transaction': 'our operator entered your transaction id',
  'operator-restored': 'our operator found that the points were given back',
  'operator-not-deducted': 'our operator found that no points were taken',
  'operator-settled': 'our operator settled it by hand',
};

const ACTORS: Words = {
  user: 'the player',
  worker: 'our service',
  service: 'our service',
  operator: 'our operator',
};

function known(words: Words, name: string): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}

export function stateText(state: State): string {
  return STATES[state];
}

export function reasonText(reason: string): string {
  return known(REASONS, reason);
}

export function eventText(event: string): string {
  return known(EVENTS, event);
}

export function actorText(actor: string): string {
  return known(ACTORS, actor);
}

export function noConfirmationText(state: State): string {
  if (state === 'failed') return 'None: a redemption that failed took no points.';
  if (state === 'claimed' || state === 'reverted') return 'None: you took none when it ended.';
  return 'None yet: it comes when the redemption ends.';
}
