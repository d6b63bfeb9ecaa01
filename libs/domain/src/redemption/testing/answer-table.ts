/**
 * "Which answer settles what", made from the state machine itself, for docs/redemption.md. Every answer that the
 * interface has, with every signature and status, belongs to exactly one row.
 */
import { balanceEvent } from '../call-event.js';
import { judgeReply, type PartnerReply } from '../partner-answer.js';
import { PARTNER_CAPABILITIES, PARTNER_ERROR_CODES } from '../partner-call.js';
import { type Redemption } from '../redemption.js';
import { transition } from '../transition.js';
import { aContext, aRedemption, START_MS, WALLET } from './builders.js';
import { BY_REDEMPTION, ended } from './fault-outcomes.js';

const ANSWERS = [
  'success',
  ...PARTNER_ERROR_CODES,
  /** Our extension of the interface: ERR-DUPLICATE-REQUEST with `partnerTransactionId`. */
  'named duplicate',
  'ERR-OF-THE-PARTNER',
] as const;
/** The statuses that may carry the error envelope, and some that may not. */
const STATUSES = [200, 400, 401, 404, 409, 422, 201, 302, 403, 429, 500, 503] as const;
/** A signature for another call, or under another secret, is `wrong`. */
const SIGNATURES = ['valid', 'missing', 'wrong'] as const;

interface Answer {
  readonly answer: (typeof ANSWERS)[number];
  readonly status: (typeof STATUSES)[number];
  readonly signature: (typeof SIGNATURES)[number];
}

export const ALL_ANSWERS: readonly Answer[] = ANSWERS.flatMap((answer) =>
  STATUSES.flatMap((status) => SIGNATURES.map((signature) => ({ answer, status, signature }))),
);

function replyOf({ answer, status, signature }: Answer, points = 5000): PartnerReply {
  const ids = { partnerTransactionId: 'tx-1', partnerRevertId: 'rev-1' };
  const balance = { partnerUserId: 'u-1', address: WALLET, points, chain: 'local' };
  const refusal = { success: false, errorCode: answer, errorMessage: 'No.' };
  const named = { ...refusal, ...ids, errorCode: 'ERR-DUPLICATE-REQUEST' };
  const success = { success: true, ...ids, ...balance };
  const value = answer === 'success' ? success : answer === 'named duplicate' ? named : refusal;
  return { status, contentType: 'application/json', signature, json: { value } };
}

const NAMES: Partial<Record<Answer['answer'], string>> = {
  'named duplicate': '`ERR-DUPLICATE-REQUEST` with `partnerTransactionId`, signed',
  'ERR-OF-THE-PARTNER': 'another code, signed',
};

const isError = ({ answer }: Answer) => answer !== 'success';
const mayRefuse = ({ status }: Answer) => status === 200 || (status >= 400 && status < 423);
const isDuplicate = ({ answer }: Answer) =>
  answer === 'ERR-DUPLICATE-REQUEST' || answer === 'named duplicate';
const isEnvelope = (one: Answer) => isError(one) && mayRefuse(one) && one.status !== 403;

type Row = readonly [string, (one: Answer) => boolean];

/** The rows, with the answers that belong to them. */
const ROWS: readonly Row[] = [
  [
    '`success: true` with 200, signed',
    (one) => !isError(one) && one.status === 200 && one.signature === 'valid',
  ],
  ...ANSWERS.slice(1).map((answer): Row => [
    NAMES[answer] ?? `\`${answer}\`, signed`,
    (one) => one.answer === answer && isEnvelope(one) && one.signature === 'valid',
  ]),
  [
    '`success: true` with 200, **not signed**, or signed for another call',
    (one) => !isError(one) && one.status === 200 && one.signature !== 'valid',
  ],
  [
    '`ERR-DUPLICATE-REQUEST`, **not signed**',
    (one) => isDuplicate(one) && isEnvelope(one) && one.signature === 'missing',
  ],
  [
    'any other error, **not signed**',
    (one) => !isDuplicate(one) && isEnvelope(one) && one.signature === 'missing',
  ],
  ['any error, signed for another call', (one) => isEnvelope(one) && one.signature === 'wrong'],
  [
    '`success: true` with another status, whatever the signature',
    (one) => !isError(one) && one.status !== 200,
  ],
  [
    'any error with another status (429, 500, …), whatever the signature',
    (one) => isError(one) && !isEnvelope(one),
  ],
];

const UNKNOWN_DEDUCTION = { partnerTransactionId: null, openCall: BY_REDEMPTION } as const;

/** What an answer leads to. `retry` and its additions are said in one word. */
const COLUMNS: readonly (readonly [string, (one: Answer) => string])[] = [
  ['balance, before the first deduction', balanceEnd],
  ['deduction, nothing unproven before', (one) => bookingEnd('deduct', one)],
  [
    'deduction, an earlier one unproven',
    (one) => bookingEnd('deduct', one, { unprovenAttempts: 2 }),
  ],
  ['revert of a known deduction', (one) => bookingEnd('revert', one)],
  ['revert of an unknown one', (one) => bookingEnd('revert', one, UNKNOWN_DEDUCTION)],
  ['confirmation', confirmEnd],
];

function balanceEnd(one: Answer): string {
  const end = (points: number) => {
    const before = aRedemption('created');
    const outcome = judgeReply({ step: 'balance', address: WALLET }, replyOf(one, points));
    const event = balanceEvent(before, outcome);
    if (event === undefined) return 'deduct';
    const decision = transition(before, event, aContext({ nowMs: START_MS + 2000 }));
    if (decision.kind === 'refused') return `!${decision.code}`;
    return decision.next.state === 'created' ? 'ask again' : `\`${decision.next.state}\``;
  };
  const [enough, tooFew] = [end(5000), end(4999)];
  return enough === tooFew ? enough : `${enough}; ${tooFew} if too few`;
}

function bookingEnd(
  step: 'deduct' | 'revert',
  one: Answer,
  change: Partial<Redemption> = {},
): string {
  const outcome = judgeReply({ step, address: WALLET }, replyOf(one));
  return worded(ended(step, outcome, change, { capabilities: PARTNER_CAPABILITIES }));
}

function confirmEnd(one: Answer): string {
  return worded(ended('confirm', judgeReply({ step: 'confirm', address: WALLET }, replyOf(one))));
}

function worded(end: string): string {
  const [word = ''] = end.split(' ');
  if (word === 'retry') return 'ask again';
  return word === 'delivered' ? word : `\`${word}\``;
}

interface AnswerTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The answers of each row. */
  readonly answers: readonly (readonly Answer[])[];
}

const ALL_OTHERS = 'all others: another signature, status or code';

/**
 * Answers that lead to the same ends share a row; those that settle nothing anywhere are the last one. Where the answers
 * of a row lead to different ends, the cell names them all.
 */
export function answerTable(): AnswerTable {
  const rows = ROWS.map(([name, belongs]) => {
    const answers = ALL_ANSWERS.filter(belongs);
    const ends = COLUMNS.map(([, end]) => [...new Set(answers.map(end))].join(' or '));
    return { name, ends, answers };
  });
  const settlesNothing = ({ ends }: (typeof rows)[number]) =>
    ends.every((end) => end === 'ask again');
  const settling = new Map<string, typeof rows>();
  for (const row of rows.filter((one) => !settlesNothing(one))) {
    const key = row.ends.join();
    settling.set(key, [...(settling.get(key) ?? []), row]);
  }
  const shared = [...settling.values(), rows.filter(settlesNothing)];
  return {
    head: ['answer', ...COLUMNS.map(([name]) => name)],
    rows: shared.map((same, index) => [
      index < settling.size ? same.map(({ name }) => name).join(' · ') : ALL_OTHERS,
      ...(same[0]?.ends ?? []),
    ]),
    answers: shared.map((same) => same.flatMap(({ answers }) => answers)),
  };
}
