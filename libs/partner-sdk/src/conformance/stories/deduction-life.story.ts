import {
  notBalance,
  notRefused,
  notSucceeded,
  type Story,
  type Tester,
  transactionOf,
} from '../run/tester.js';
import { StoryBlocked } from '../run/caller.js';
import { idText, transactionIn } from '../run/deduction-ledger.js';
import { type Exchange } from '../wire/exchange.js';

interface Life {
  readonly id: string;
  readonly transactionId: string | undefined;
}

/** A deduction of one point: made, repeated, reverted with a wrong amount, reverted twice, and repeated once more. */
export const deductionLife: Story = {
  title: 'the life of a deduction',
  checks: [
    'deduct-takes',
    'deduct-repeat-once',
    'deduct-repeat-refused',
    'deduct-repeat-names-transaction',
    'deduct-repeat-right-id',
    'revert-wrong-amount',
    'revert-gives-back',
    'revert-names-transaction',
    'revert-twice-once',
    'revert-twice-refused',
    'revert-frees-no-id',
  ],
  async play(tester) {
    const before = await tester.points('before', 1);
    const id = tester.newId();
    const deducted = await tester.deduct({ purpose: 'deduct one point', points: 1, id });
    const refused = notSucceeded(deducted);
    const left = await tester.points('after the deduction');
    const taken = refused ?? notBalance(before - 1, left, 'a deduction of 1');
    tester.judge('deduct-takes', taken, [deducted]);
    let life: Life = { id, transactionId: transactionOf(deducted) };
    await repeat(tester, life, left);
    // A redemption id that was deducted twice would distort the following steps.
    if (tester.verdicts.isFailed('deduct-repeat-once')) life = await anotherLife(tester);
    const isRevertedWrongly = await revertWrongly(tester, life);
    const reverted = await revertRightly(tester, life, isRevertedWrongly);
    if (tester.verdicts.isFailed('revert-gives-back') && reverted.reading.kind === 'refusal') {
      throw new StoryBlocked('The deduction could not be reverted (revert-gives-back).');
    }
    await revertAgain(tester, life, reverted);
    await deductAgain(tester, life);
  },
};

async function anotherLife(tester: Tester): Promise<Life> {
  const id = tester.newId();
  const deducted = await tester.deduct({ purpose: 'deduct another point', points: 1, id });
  return { id, transactionId: transactionOf(deducted) };
}

async function repeat(tester: Tester, { id }: Life, left: number): Promise<void> {
  const repeated = await tester.deduct({ purpose: 'the same redemption id again', points: 1, id });
  const after = await tester.points('after the repetition');
  const moved = notBalance(left, after, 'the same redemption id again');
  tester.judge('deduct-repeat-once', moved, [repeated]);
  tester.judgeRefusal('deduct-repeat-refused', repeated, 'ERR-DUPLICATE-REQUEST');
  if (repeated.reading.kind !== 'refusal') {
    tester.verdicts.skip(
      ['deduct-repeat-names-transaction', 'deduct-repeat-right-id'],
      'The repetition was not refused (deduct-repeat-refused).',
    );
    return;
  }
  const named = transactionIn(repeated);
  tester.judge(
    'deduct-repeat-names-transaction',
    named === '' ? 'The answer has no partnerTransactionId.' : undefined,
    [repeated],
  );
}

/** @returns whether the partner has carried the revert out, which it should not do */
async function revertWrongly(tester: Tester, { id, transactionId }: Life): Promise<boolean> {
  const before = await tester.points('before the revert');
  const purpose = 'revert 2 points of a deduction of 1';
  const reverted = await tester.revert({ purpose, points: 2, id, transactionId });
  const after = await tester.points('after the wrong revert');
  const problem =
    notBalance(before, after, 'a revert of the wrong amount') ??
    notRefused(reverted, ['ERR-INVALID-AMOUNT']);
  tester.judge('revert-wrong-amount', problem, [reverted]);
  return reverted.reading.kind === 'success' || before !== after;
}

async function revertRightly(
  tester: Tester,
  life: Life,
  isRevertedWrongly: boolean,
): Promise<Exchange> {
  const { id, transactionId } = life;
  const before = await tester.points('before the revert');
  const reverted = await tester.revert({ purpose: 'revert it', points: 1, id, transactionId });
  const after = await tester.points('after the revert');
  if (isRevertedWrongly) {
    const why = 'The revert of the wrong amount went through (revert-wrong-amount).';
    tester.verdicts.skip(['revert-gives-back', 'revert-names-transaction'], why);
    return reverted;
  }
  const problem = notReverted(reverted) ?? notBalance(before + 1, after, 'the revert');
  tester.judge('revert-gives-back', problem, [reverted]);
  if (reverted.reading.kind !== 'success') return reverted;
  const named = transactionIn(reverted);
  const wrong = `The answer names the transaction ${named}. It is ${transactionId ?? 'without an id'}.`;
  const isRight = named === '' || transactionId === undefined || named === transactionId;
  tester.judge('revert-names-transaction', isRight ? undefined : wrong, [reverted]);
  return reverted;
}

function notReverted(exchange: Exchange): string | undefined {
  const problem = notSucceeded(exchange);
  const { reading } = exchange;
  const isUnknown = reading.kind === 'refusal' && reading.code === 'ERR-TRANSACTION-NOT-FOUND';
  if (problem === undefined || !isUnknown) return problem;
  return `${problem} It named the partnerTransactionId that the deduction was answered with: see that this is the one that is stored.`;
}

async function revertAgain(
  tester: Tester,
  { id, transactionId }: Life,
  first: Exchange,
): Promise<void> {
  const before = await tester.points('before the second revert');
  const again = await tester.revert({ purpose: 'revert it again', points: 1, id, transactionId });
  const after = await tester.points('after the second revert');
  tester.judge('revert-twice-once', notBalance(before, after, 'a second revert'), [again]);
  const problem = notRefused(again, ['ERR-ALREADY-REVERTED']);
  // The same answer again without moved points violates only the letter of the rule.
  const isEcho = before === after && revertIdIn(again) === revertIdIn(first);
  const severity = isEcho && revertIdIn(first) !== '' ? 'warning' : undefined;
  tester.judge('revert-twice-refused', problem, [again], severity);
}

async function deductAgain(tester: Tester, { id }: Life): Promise<void> {
  const before = await tester.points('before the id comes again');
  const again = await tester.deduct({ purpose: 'deduct a reverted id', points: 1, id });
  const after = await tester.points('after the id came again');
  const moved = notBalance(before, after, 'a deduction with the id of a reverted one');
  const refused = notRefused(again, ['ERR-DUPLICATE-REQUEST']);
  // Where every repetition fails in this way, the checks of repetitions report it.
  const isKnown =
    tester.verdicts.isFailed('deduct-repeat-refused') ||
    tester.verdicts.isFailed('deduct-repeat-once');
  if (isKnown) {
    tester.verdicts.skip(
      ['revert-frees-no-id'],
      'No repetition is recognised (deduct-repeat-once).',
    );
    return;
  }
  tester.judge('revert-frees-no-id', moved ?? refused, [again]);
  const named = transactionIn(again);
  const wrong = `The deduction was reverted, and a repetition still names it: ${named}.`;
  const isNamed = again.reading.kind === 'refusal' && named !== '';
  tester.judge('deduct-repeat-right-id', isNamed ? wrong : undefined, [again]);
}

function revertIdIn({ reading }: Exchange): string {
  return reading.kind === 'success' ? idText(reading.fields['partnerRevertId']) : '';
}
