/** Judges the form of every answer of the run: one verdict for each rule, however many answers break it. */
import { type CheckId } from '../checks/all-checks.js';
import { type Verdicts } from '../run/verdicts.js';
import { type Exchange } from '../wire/exchange.js';
import { type Fault } from './fault.js';
import { judgeFields } from './fields.js';
import { judgeIds } from './ids.js';
import { judgeSignatures, type SignatureContext } from './signatures.js';
import { judgeStatus } from './status.js';

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
