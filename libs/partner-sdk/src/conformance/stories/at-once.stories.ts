/** The same call several times at once: what a look before the write gets wrong. */
import { notBalance, transactionOf } from '../run/tester.js';
import { Blocked } from '../run/stop.js';
import { type Exchange } from '../wire/exchange.js';
import { type Story } from './story.js';

const TIMES = 10;
const OVERDRAFTS = 5;

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

export const tenAtOnce: Story = {
  title: 'ten deductions at once, and ten reverts',
  checks: ['deduct-at-once', 'revert-at-once'],
  async run(tester) {
    const before = await tester.points('before', 1);
    const id = tester.newId();
    const purpose = `one of ${TIMES} at once with one redemption id`;
    const deducted = await times(TIMES, () => tester.deduct({ purpose, points: 1, id }));
    const left = await tester.points('after ten at once');
    const answers = notOnce(deducted, ['ERR-DUPLICATE-REQUEST']);
    const moved = notBalance(before - 1, left, `${TIMES} deductions of 1 with one redemption id`);
    // Where every repetition is answered so, that has a check of its own.
    const isTold = tester.verdicts.isFailed('deduct-repeat-refused');
    const problem = moved ?? (isTold ? undefined : answers);
    tester.judge('deduct-at-once', problem, telling(deducted));
    const winner = deducted.find(({ reading }) => reading.kind === 'success');
    if (winner === undefined || left !== before - 1) {
      throw new Blocked('The deduction before it went wrong (deduct-at-once).');
    }
    const transactionId = transactionOf(winner);
    const again = 'one of ten reverts at once';
    const reverted = await times(TIMES, () =>
      tester.revert({ purpose: again, points: 1, id, transactionId }),
    );
    const after = await tester.points('after ten reverts at once');
    const restored = notBalance(before, after, `${TIMES} reverts of one deduction`);
    const told = notOnce(reverted, ['ERR-ALREADY-REVERTED']);
    const isSaid = tester.verdicts.isFailed('revert-twice-refused');
    tester.judge('revert-at-once', restored ?? (isSaid ? undefined : told), telling(reverted));
  },
};

export const overdraft: Story = {
  title: 'several deductions of everything at once',
  checks: ['deduct-overdraft-at-once'],
  async run(tester) {
    const before = await tester.points('before', 1);
    const all = Math.floor(before);
    const purpose = `one of ${OVERDRAFTS} at once, each for the whole balance`;
    const deducted = await times(OVERDRAFTS, () =>
      tester.deduct({ purpose, points: all, id: tester.newId() }),
    );
    const left = await tester.points('after several at once');
    const successes = deducted.filter(({ reading }) => reading.kind === 'success').length;
    const problem =
      successes > 1 ? `${successes} of ${OVERDRAFTS} succeeded. Expected: one.` : undefined;
    const moved = notBalance(before - successes * all, left, `${successes} that succeeded`);
    tester.judge('deduct-overdraft-at-once', problem ?? moved, telling(deducted));
  },
};

/** One succeeds, the others are refused so; ERR-INTERNAL is a permission to try again. */
function notOnce(exchanges: readonly Exchange[], codes: readonly string[]): string | undefined {
  const successes = exchanges.filter(({ reading }) => reading.kind === 'success').length;
  const others = exchanges.flatMap(({ reading }) =>
    reading.kind === 'refusal' && ![...codes, 'ERR-INTERNAL'].includes(reading.code)
      ? [reading.code]
      : [],
  );
  if (successes > 1) return `${successes} of ${exchanges.length} succeeded. Expected: one.`;
  if (others.length === 0) return undefined;
  return `Some were refused with ${[...new Set(others)].join(', ')}. Expected: ${codes.join(', ')}.`;
}

/** Two of them say it all. */
function telling(exchanges: readonly Exchange[]): Exchange[] {
  const successes = exchanges.filter(({ reading }) => reading.kind === 'success');
  const others = exchanges.filter(({ reading }) => reading.kind !== 'success');
  return [...successes.slice(0, 2), ...others].slice(0, 2);
}
