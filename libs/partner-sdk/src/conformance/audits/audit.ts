/** Judges the form of every answer of the run: one verdict for each rule, however many answers break it. */
import { ERROR_CODES } from '../../callbacks/call.js';
import { type Fault, judgeFields, judgeIds } from './fields.js';
import { type CheckId } from '../checks/all-checks.js';
import { type Verdicts } from '../run/tester.js';
import { type Exchange } from '../wire/exchange.js';
import { explainSignature, isOverBytes } from '../wire/judge-signature.js';

/** Shown of each rule; the rest is counted. */
const SHOWN = 2;

/** @param secret to find out what a wrong signature is over */
export function audit(exchanges: readonly Exchange[], verdicts: Verdicts, secret: string): void {
  // What is signed with it is accepted, and what is signed with another is not.
  const isSecretShared =
    verdicts.isPassed('call-accepted') && verdicts.isPassed('auth-signature-wrong');
  const context = { secret, isSecretShared };
  const faults = [
    ...exchanges.flatMap((exchange) => judgeOne(exchange, context)),
    ...judgeIds(exchanges),
  ];
  for (const check of AUDITED) {
    const found = faults.filter((fault) => fault.check === check);
    const [first] = found;
    if (first === undefined) {
      verdicts.pass(check);
      continue;
    }
    const more =
      found.length === 1 ? '' : ` So it is in ${found.length} of ${exchanges.length} answers.`;
    verdicts.fail(check, {
      observed: `${first.observed}${more}`,
      exchanges: found.slice(0, SHOWN).map(({ exchange }) => exchange),
    });
  }
}

const AUDITED: readonly CheckId[] = [
  'http-answers',
  'http-in-time',
  'http-size',
  'http-redirect',
  'http-json',
  'http-content-type',
  'answer-envelope',
  'error-codes',
  'success-status',
  'refusal-status',
  'signature-present',
  'signature-valid',
  'signature-over-bytes',
  'signs-all-responses',
  'balance-fields',
  'deduct-fields',
  'revert-fields',
  'transaction-ids-unique',
  'revert-ids-distinct',
  'deduct-repeat-right-id',
];

/** An answer that cannot be read has that one fault; the others are judged in all respects. */
function judgeOne(exchange: Exchange, context: SignatureContext): Fault[] {
  const { reading } = exchange;
  if (reading.kind === 'unreadable') {
    return [{ check: reading.fault, observed: sentence(reading.why), exchange }];
  }
  return [
    ...judgeStatus(exchange),
    ...judgeSignatures(exchange, context),
    ...judgeFields(exchange),
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;
/** With these the envelope is believed. */
const REFUSAL_STATUSES = [200, 400, 401, 404, 409, 422];
/** With these the outcome counts as unknown, which is what ERR-INTERNAL says. */
const FAILURE_STATUSES = [...REFUSAL_STATUSES, 429, 500];

/** Status, content type and code of an answer that can be read. */
function judgeStatus(exchange: Exchange): Fault[] {
  const { came, reading, purpose } = exchange;
  if (came.kind === 'none' || reading.kind === 'unreadable') return [];
  const { status, headers } = came;
  const faults: Fault[] = [];
  const type = headers['content-type'];
  const encoding = headers['content-encoding'] ?? 'identity';
  if (type === undefined || !JSON_TYPE.test(type)) {
    const observed = `The content type is ${type ?? 'missing'}.`;
    faults.push({ check: 'http-content-type', observed, exchange });
  } else if (encoding !== 'identity') {
    const observed = `The content encoding is ${encoding}, though identity was asked for.`;
    faults.push({ check: 'http-content-type', observed, exchange });
  }
  if (reading.kind === 'success') {
    const observed = `A success (${purpose}) has status ${status}.`;
    if (status !== 200) faults.push({ check: 'success-status', observed, exchange });
    return faults;
  }
  const { code } = reading;
  if (!ERROR_CODES.some((known) => known === code)) {
    const observed = `The error code is ${JSON.stringify(code)} (${purpose}).`;
    faults.push({ check: 'error-codes', observed, exchange });
  }
  const allowed = code === 'ERR-INTERNAL' ? FAILURE_STATUSES : REFUSAL_STATUSES;
  if (!allowed.includes(status)) {
    const observed = `${code} (${purpose}) has status ${status}.`;
    faults.push({ check: 'refusal-status', observed, exchange });
  }
  return faults;
}

interface SignatureContext {
  /** To find out what a wrong signature is over. */
  readonly secret: string;
  readonly isSecretShared: boolean;
}

/** @param isSecretShared calls signed with it were accepted, and others refused: the partner has the same secret */
function judgeSignatures(
  exchange: Exchange,
  { secret, isSecretShared }: SignatureContext,
): Fault[] {
  const { came, signature, sent, purpose } = exchange;
  if (came.kind === 'none') return [];
  if (signature === 'missing') {
    const is200 = came.status === 200;
    const check = is200 ? 'signature-present' : 'signs-all-responses';
    const observed = `The answer (${purpose}) has status ${came.status} and no X-API-SIGNATURE.`;
    return [{ check, observed, exchange }];
  }
  if (signature === 'valid') {
    if (isOverBytes(secret, sent, came)) return [];
    const observed = `The signature of an answer (${purpose}) fits the canonical form of its body, and other bytes were sent.`;
    return [{ check: 'signature-over-bytes', observed, exchange }];
  }
  const why =
    explainSignature(secret, sent, came) ??
    (isSecretShared
      ? 'It fits none of the usual mistakes. The secret is the same on both sides, since calls are verified with it: compare what is signed with what is sent, byte for byte.'
      : 'It fits none of the usual mistakes; is the secret the same on both sides?');
  const observed = `The signature of an answer (${purpose}) does not fit. ${why}`;
  return [{ check: 'signature-valid', observed, exchange }];
}
