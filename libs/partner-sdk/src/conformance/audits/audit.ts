/** Judges the form of all answers of the run. Each rule gets one verdict, however many answers violate it. */
import { explain, type Finding, type FindingRule } from '../../answers/index.js';
import { explainSignatureInTurns } from '../../signing/explain-signature.js';
import { type CheckId } from '../checks/all-checks.js';
import { type Failure, type Verdicts } from '../run/tester.js';
import { type Exchange, type Target } from '../wire/exchange.js';
import { type Fault, idClashes, wronglyNamed } from './ids.js';

/** Number of answers that the report shows for each rule; the others are only counted. */
const SHOWN = 2;

/** Rules of single answers, which the service's own findings decide. Other checks decide the rest of them. */
const FOUND = [
  ...(['http-answers', 'http-in-time', 'http-size', 'http-redirect', 'http-json'] as const),
  ...(['http-content-type', 'answer-envelope', 'error-codes'] as const),
  ...(['success-status', 'refusal-status'] as const),
  ...(['signature-present', 'signature-valid', 'signature-over-bytes'] as const),
  ...(['signs-all-responses', 'balance-fields', 'deduct-fields', 'revert-fields'] as const),
] satisfies readonly (CheckId & FindingRule)[];

/** Rules that only show in all answers together. */
const TOGETHER: readonly (readonly [CheckId, (exchanges: readonly Exchange[]) => Fault[]])[] = [
  ['transaction-ids-unique', (all) => idClashes(all, 'deduct', 'partnerTransactionId')],
  ['revert-ids-distinct', (all) => idClashes(all, 'revert', 'partnerRevertId')],
  ['deduct-repeat-right-id', wronglyNamed],
];

export async function audit(
  exchanges: readonly Exchange[],
  verdicts: Verdicts,
  { sharedSecret }: Pick<Target, 'sharedSecret'>,
): Promise<void> {
  for (const [check, faultsIn] of TOGETHER) judge(check, faultsIn(exchanges));
  // Rightly signed calls were accepted and others refused.
  const isSecretShared =
    verdicts.isPassed('call-accepted') && verdicts.isPassed('auth-signature-wrong');
  for (const check of FOUND) {
    const found = exchanges.flatMap((exchange) => {
      const finding = foundIn(exchange).find((each) => explain(each).rule === check);
      return finding === undefined ? [] : [{ exchange, finding }];
    });
    // What makes an answer useless says more than a remark on one that is of use.
    found.sort((a, b) => Number(a.finding.isUsable) - Number(b.finding.isUsable));
    const [first] = found;
    if (first === undefined) judge(check, []);
    else {
      const { finding, exchange } = first;
      const mistakes = await mistakesIn(finding, exchange, sharedSecret);
      const { says, remedy } = explain({ ...finding, mistakes });
      const isShared = finding.code === 'signature-wrong' && isSecretShared;
      const observed = `${says}${isShared ? SHARED : ''} Call: ${exchange.purpose}.`;
      const more = {
        remedy,
        ...(finding.code === 'slow-answer' && { severity: 'warning' as const }),
      };
      judge(
        check,
        found.map((one) => ({ observed, exchange: one.exchange })),
        more,
      );
    }
  }

  function judge(
    check: CheckId,
    found: readonly Fault[],
    more: Pick<Failure, 'remedy' | 'severity'> = {},
  ): void {
    const [first] = found;
    if (first === undefined) {
      verdicts.pass(check);
      return;
    }
    const all = ` The same holds for ${found.length} of ${exchanges.length} answers.`;
    verdicts.fail(check, {
      observed: `${first.observed}${found.length === 1 ? '' : all}`,
      exchanges: found.slice(0, SHOWN).map(({ exchange }) => exchange),
      ...more,
    });
  }
}

const SHARED = ' The secret is the same on both sides, since calls are verified with it.';

/** Of an answer that cannot be read only that it cannot be read. */
function foundIn({ reading, findings }: Exchange): readonly Finding[] {
  return reading.kind === 'unreadable' ? findings.slice(-1) : findings;
}

/** What was signed in place of the answer, if it is a known mistake. */
async function mistakesIn(
  { code }: Finding,
  { sent, came }: Exchange,
  secret: string,
): Promise<readonly string[]> {
  if (code !== 'signature-wrong' || came.kind === 'none') return [];
  const { mistakes } = await explainSignatureInTurns({
    ...{ secret, method: sent.method, path: sent.target, body: came.body.toString() },
    ...{ requestId: sent.headers['x-api-request'], given: came.headers['x-api-signature'] },
  });
  return mistakes;
}
