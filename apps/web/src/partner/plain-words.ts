/** Translates terms of the ledger to plain words for partners. Unknown terms are shown as they are. */
import { type ConsoleBody } from '../api/console-client';

type State = ConsoleBody<'OwnRedemption'>['state'];
type Call = ConsoleBody<'OwnCall'>;
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

const VERDICTS: Words = {
  verified: 'signed by you',
  'bad-signature': 'the signature does not verify',
  unsigned: 'not signed',
  encoded: 'compressed',
  'not-json': 'not JSON',
};

const CAUSES: Words = {
  'circuit-open': 'held back after several failures',
  'too-many-calls': 'too many calls at once',
  'stale-request-id': 'begun too late',
  aborted: 'ended by us',
  'invalid-url': 'the URL cannot be called',
  'blocked-address': 'the address is not public',
  dns: 'the name does not resolve',
  'connection-refused': 'nothing listens there',
  unreachable: 'no way to the address',
  'connect-timeout': 'no connection in time',
  tls: 'the TLS handshake failed',
  timeout: 'no answer in time',
  'too-slow': 'the answer did not end in time',
  reset: 'the connection was closed',
  'half-answer': 'the answer broke off',
  'too-large': 'the answer is too large',
  'not-http': 'the answer is no HTTP',
};

const ADVICE: Words = {
  'bad-signature':
    'X-API-SIGNATURE must be the HMAC-SHA256 of the base string below, with the secret of your callback, as 64 lower-case hex digits: method, path without the query, our X-API-REQUEST, and the body exactly as you send it.',
  unsigned:
    'Sign every answer, refusals of every status too, in X-API-SIGNATURE: the HMAC-SHA256 of the base string below, with the secret of your callback. An answer without a signature settles nothing.',
  encoded:
    'Turn compression off for these endpoints, in a proxy too: we send Accept-Encoding: identity, and the signature is over the bytes as sent.',
  'not-json': 'Answer with JSON in UTF-8, and Content-Type: application/json.',
  'circuit-open': 'Several calls in a row failed. Look at those before; we try again by ourselves.',
  'invalid-url': 'Ask your operator to set a URL on https.',
  'blocked-address': 'The name of your callback must lead to a public address.',
  dns: 'Look at the DNS of the name in your callback’s URL.',
  'connection-refused': 'Start your endpoints, or have your operator mend the URL.',
  unreachable: 'Look at your firewall and your routes.',
  'connect-timeout': 'Look at your firewall, and at the load of your endpoints.',
  tls: 'The certificate must be valid for the name, not expired, and have its whole chain.',
  timeout: 'Look for the X-API-REQUEST in your logs: your endpoint took too long.',
  'too-slow': 'Look for the X-API-REQUEST in your logs: the body came too slowly.',
  reset: 'Look for the X-API-REQUEST in your logs: the connection was closed without an answer.',
  'half-answer': 'Content-Length must be the length of the body.',
  'too-large': 'An answer may have 64 KiB: another page may be at this address.',
  'not-http': 'The port may be wrong, or https and http may be mixed up.',
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

/** Our verdict on the answer, or the cause where there is no answer. */
export function verdictText({ verdict, cause }: Pick<Call, 'verdict' | 'cause'>): string {
  if (verdict !== null) return known(VERDICTS, verdict);
  return cause === null ? '–' : known(CAUSES, cause);
}

/** Advice for the partner; undefined where there is nothing to do. */
export function adviceOf({ verdict, cause }: Pick<Call, 'verdict' | 'cause'>): string | undefined {
  const name = verdict ?? cause ?? '';
  return Object.hasOwn(ADVICE, name) ? ADVICE[name] : undefined;
}

export function noConfirmationText(state: State): string {
  if (state === 'failed') return 'None: a redemption that failed took no points.';
  if (state === 'claimed' || state === 'reverted') return 'None: you took none when it ended.';
  return 'None yet: it comes when the redemption ends.';
}
