/** Judges the form of all answers of the run. Each rule gets one verdict, however many answers violate it. */
import { ERROR_CODES } from '../../answers/answer-form.js';
import { type CheckId } from '../checks/all-checks.js';
import { type Verdicts } from '../run/tester.js';
import { type Exchange, type Target } from '../wire/exchange.js';
import { isOverBytes } from '../wire/judge-signature.js';
import { wrongFields } from './fields.js';
import { type Fault, idClashes, wronglyNamed } from './ids.js';

/** Number of answers that the report shows for each rule; the others are only counted. */
const SHOWN = 2;

/** What rules know besides the answer. */
interface Context {
  readonly apiKey: string;
  /** The shared secret, to find out whether a signature covers the bytes that were sent. */
  readonly secret: string;
  /** Whether correctly signed calls were accepted and others refused, so that the partner has the same secret. */
  readonly isSecretShared: boolean;
}

interface Rule {
  readonly check: CheckId;
  /** The faults of one readable answer. An unreadable answer only has the fault of being unreadable. */
  readonly seen?: (exchange: Exchange, context: Context) => readonly string[] | string | undefined;
  /** The faults that only show in all answers together. */
  readonly together?: (exchanges: readonly Exchange[]) => readonly Fault[];
}

const RULES: readonly Rule[] = [
  { check: 'http-answers' },
  { check: 'http-in-time' },
  { check: 'http-size' },
  { check: 'http-redirect' },
  { check: 'http-json' },
  { check: 'http-content-type', seen: wrongContentType },
  { check: 'answer-envelope' },
  { check: 'error-codes', seen: unknownCode },
  { check: 'success-status', seen: wrongSuccessStatus },
  { check: 'refusal-status', seen: wrongRefusalStatus },
  {
    check: 'signature-present',
    seen: (exchange, context) => unsigned(exchange, context, (is200) => is200),
  },
  { check: 'signature-valid', seen: wrongSignature },
  { check: 'signature-over-bytes', seen: overCanonicalForm },
  {
    check: 'signs-all-responses',
    seen: (exchange, context) => unsigned(exchange, context, (is200) => !is200),
  },
  { check: 'balance-fields', seen: (exchange) => wrongFields(exchange, 'balance') },
  { check: 'deduct-fields', seen: (exchange) => wrongFields(exchange, 'deduct') },
  { check: 'revert-fields', seen: (exchange) => wrongFields(exchange, 'revert') },
  {
    check: 'transaction-ids-unique',
    together: (exchanges) => idClashes(exchanges, 'deduct', 'partnerTransactionId'),
  },
  {
    check: 'revert-ids-distinct',
    together: (exchanges) => idClashes(exchanges, 'revert', 'partnerRevertId'),
  },
  { check: 'deduct-repeat-right-id', together: wronglyNamed },
];

export function audit(
  exchanges: readonly Exchange[],
  verdicts: Verdicts,
  { apiKey, sharedSecret: secret }: Pick<Target, 'apiKey' | 'sharedSecret'>,
): void {
  const isSecretShared =
    verdicts.isPassed('call-accepted') && verdicts.isPassed('auth-signature-wrong');
  const context = { apiKey, secret, isSecretShared };
  for (const rule of RULES) {
    const found = faultsOf(rule, exchanges, context);
    const [first] = found;
    if (first === undefined) {
      verdicts.pass(rule.check);
      continue;
    }
    const more =
      found.length === 1
        ? ''
        : ` The same holds for ${found.length} of ${exchanges.length} answers.`;
    verdicts.fail(rule.check, {
      observed: `${first.observed}${more}`,
      exchanges: found.slice(0, SHOWN).map(({ exchange }) => exchange),
    });
  }
}

function faultsOf(
  { check, seen, together }: Rule,
  exchanges: readonly Exchange[],
  context: Context,
): readonly Fault[] {
  if (together !== undefined) return together(exchanges);
  return exchanges.flatMap((exchange) => {
    const { reading } = exchange;
    if (reading.kind === 'unreadable') {
      return reading.fault === check ? [{ observed: sentence(reading.why), exchange }] : [];
    }
    const found = [seen?.(exchange, context) ?? []].flat();
    return found.map((observed) => ({ observed, exchange }));
  });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;
/** Statuses with which the service believes a refusal. */
const REFUSAL_STATUSES = [200, 400, 401, 404, 409, 422];
/** Statuses allowed for ERR-INTERNAL. With 429 and 500 the outcome counts as unknown, as it does with ERR-INTERNAL. */
const FAILURE_STATUSES = [...REFUSAL_STATUSES, 429, 500];

function wrongContentType({ came }: Exchange): string | undefined {
  if (came.kind === 'none') return undefined;
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = came.headers;
  if (type === undefined || !JSON_TYPE.test(type)) {
    return `The content type is ${type ?? 'missing'}.`;
  }
  return encoding === 'identity'
    ? undefined
    : `The content encoding is ${encoding}, though identity was asked for.`;
}

function unknownCode({ reading, purpose }: Exchange): string | undefined {
  if (reading.kind !== 'refusal') return undefined;
  const { code } = reading;
  return ERROR_CODES.some((known) => known === code)
    ? undefined
    : `The error code is ${JSON.stringify(code)} (${purpose}).`;
}

function wrongSuccessStatus({ came, reading, purpose }: Exchange): string | undefined {
  if (came.kind === 'none' || reading.kind !== 'success' || came.status === 200) return undefined;
  return `A success (${purpose}) has status ${came.status}.`;
}

function wrongRefusalStatus({ came, reading, purpose }: Exchange): string | undefined {
  if (came.kind === 'none' || reading.kind !== 'refusal') return undefined;
  const allowed = reading.code === 'ERR-INTERNAL' ? FAILURE_STATUSES : REFUSAL_STATUSES;
  return allowed.includes(came.status)
    ? undefined
    : `${reading.code} (${purpose}) has status ${came.status}.`;
}

/** Whether the partner can sign the answer: to a call without its key there is no secret that both sides know. */
function isSignable({ sent }: Exchange, { apiKey }: Context): boolean {
  return sent.headers['x-api-key'] === apiKey;
}

/** @param concerns whether the rule applies to answers with status 200, or to others */
function unsigned(
  exchange: Exchange,
  context: Context,
  concerns: (is200: boolean) => boolean,
): string | undefined {
  const { came, signature, purpose } = exchange;
  if (came.kind === 'none' || signature !== 'missing' || !isSignable(exchange, context)) {
    return undefined;
  }
  return concerns(came.status === 200)
    ? `The answer (${purpose}) has status ${came.status} and no X-API-SIGNATURE.`
    : undefined;
}

function overCanonicalForm(
  { came, signature, sent, purpose }: Exchange,
  { secret }: Context,
): string | undefined {
  if (came.kind === 'none' || signature !== 'valid') return undefined;
  return isOverBytes(secret, sent, came)
    ? undefined
    : `The signature of an answer (${purpose}) fits the canonical form of its body, and other bytes were sent.`;
}

function wrongSignature(exchange: Exchange, context: Context): string | undefined {
  const { came, signature, purpose } = exchange;
  if (came.kind === 'none' || signature !== 'wrong' || !isSignable(exchange, context)) {
    return undefined;
  }
  const why = context.isSecretShared
    ? 'The secret is the same on both sides, since calls are verified with it: compare what is signed with what is sent, byte for byte.'
    : 'Is the secret the same on both sides?';
  return `The signature of an answer (${purpose}) does not fit. ${why}`;
}
