/** Stories about deductions: repeated redemption ids, too few points, wrong amounts, and several calls at once. */
import { idText } from '../run/deduction-ledger.js';
import { StoryBlocked } from '../run/caller.js';
import {
  notBalance,
  notRefused,
  notSucceeded,
  readable,
  type Story,
  type Tester,
  transactionOf,
} from '../run/tester.js';
import { type Exchange, randomAddress } from '../wire/exchange.js';

/** Repeats a redemption id while a newer deduction of the player stands, and with other terms. */
export const duplicates: Story = {
  title: 'an older redemption id again, and with other terms',
  checks: ['deduct-repeat-other-terms'],
  async play(tester) {
    const { verdicts } = tester;
    for (const check of ['deduct-repeat-once', 'deduct-repeat-refused'] as const) {
      if (verdicts.isFailed(check))
        throw new StoryBlocked(`No repetition is recognised (${check}).`);
    }
    const before = await tester.points('before', 2);
    const [id, newer] = [tester.newId(), tester.newId()];
    transactionOf(await tester.deduct({ purpose: 'an older deduction', points: 1, id }));
    transactionOf(await tester.deduct({ purpose: 'a newer one', points: 1, id: newer }));
    // An audit compares the ids that duplicates name, over the whole run.
    await tester.deduct({ purpose: 'the older redemption id again', points: 1, id });
    const again = [
      await tester.deduct({ purpose: 'the same id with other points', points: 2, id }),
      await tester.deduct({
        purpose: 'the same id with another wallet',
        points: 1,
        id,
        // A known player, if there is one, since a partner may look for the player before the redemption id.
        address: tester.emptyAddress ?? randomAddress(),
      }),
    ];
    const after = await tester.points('after the repetitions');
    const problem =
      again.map(notPlain).find((line) => line !== undefined) ??
      notBalance(before - 2, after, 'the same ids with other terms');
    tester.judge('deduct-repeat-other-terms', problem, again);
    await takeBack(tester, id, again[0]);
  },
};

/** Undefined where the answer is a refusal that names no deduction; else the fault. @throws Blocked */
function notPlain({ purpose, reading }: Exchange): string | undefined {
  const { kind, fields } = readable(reading);
  if (kind === 'success') return `The call (${purpose}) succeeded. Expected: a refusal.`;
  const named = idText(fields['partnerTransactionId']);
  return named === '' ? undefined : `The answer (${purpose}) names the deduction ${named}.`;
}

/** Gives back what the same id took with other points, since the ledger records one amount for each redemption. */
async function takeBack(tester: Tester, id: string, taken: Exchange | undefined): Promise<void> {
  if (taken?.reading.kind !== 'success') return;
  const transactionId = transactionOf(taken);
  await tester.revert({ purpose: 'give the other points back', points: 2, id, transactionId });
}

/**
 * Deducts more than the balance. The tester cannot add points, so it first deducts one: the rest is too little for the
 * whole balance, until that point is given back.
 */
export const shortage: Story = {
  title: 'too few points, then enough',
  checks: ['deduct-insufficient', 'deduct-again-after-refusal', 'deduct-repeat-before-balance'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const all = tester.allOf(before);
    const [part, whole] = [tester.newId(), tester.newId()];
    const first = await tester.deduct({ purpose: 'deduct one point', points: 1, id: part });
    const transactionId = transactionOf(first);
    const purpose = 'deduct more than is left';
    const refused = await tester.deduct({ purpose, points: all, id: whole });
    const left = await tester.points('after the refusal');
    const problem =
      notBalance(before - 1, left, 'a deduction of more than there was') ??
      notRefused(refused, ['ERR-INSUFFICIENT-POINTS']);
    tester.judge('deduct-insufficient', problem, [refused]);
    if (refused.reading.kind === 'success') return;
    const back = { purpose: 'give the one point back', points: 1, id: part, transactionId };
    transactionOf(await tester.revert(back));
    const again = 'the refused redemption id again, now that there are enough points';
    const taken = await tester.deduct({ purpose: again, points: all, id: whole });
    tester.judge('deduct-again-after-refusal', notSucceeded(taken), [refused, taken]);
    if (taken.reading.kind !== 'success') return;
    const repeat = 'the same id once more, when nothing is left';
    const repeated = await tester.deduct({ purpose: repeat, points: all, id: whole });
    const wrong = notRefused(repeated, ['ERR-DUPLICATE-REQUEST']);
    if (tester.verdicts.isFailed('deduct-repeat-refused')) return;
    tester.judge('deduct-repeat-before-balance', wrong, [repeated]);
  },
};

export const badPoints: Story = {
  title: 'points that are none',
  checks: ['deduct-bad-points'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const deducted = await Promise.all(
      [0, -1, 0.5].map((points) =>
        tester.deduct({ purpose: `deduct ${points} points`, points, id: tester.newId() }),
      ),
    );
    const after = await tester.points('after');
    const accepted = deducted.filter(({ reading }) => reading.kind === 'success');
    const problem =
      accepted.length > 0
        ? `It succeeded to ${accepted.map(({ purpose }) => purpose).join(' and to ')}.`
        : notBalance(before, after, 'deductions of 0, -1 and 0.5 points');
    tester.judge('deduct-bad-points', problem, accepted.length > 0 ? accepted : deducted);
    for (const exchange of deducted) notRefused(exchange, []);
  },
};

export const capitals: Story = {
  title: 'a deduction with the address in capitals',
  checks: ['deduct-any-case'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const address = `0x${tester.address.slice(2).toUpperCase()}`;
    const purpose = 'deduct, the address in capitals';
    const deducted = await tester.deduct({ purpose, points: 1, id: tester.newId(), address });
    const after = await tester.points('after');
    const refused = notSucceeded(deducted);
    const problem = refused ?? notBalance(before - 1, after, 'a deduction of 1');
    tester.judge('deduct-any-case', problem, [deducted]);
  },
};

/** The same call several times at once, which finds partners that check first and write later. */

const TIMES = 10;
const OVERDRAFTS = 5;

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

export const tenAtOnce: Story = {
  title: 'ten deductions at once, and ten reverts',
  checks: ['deduct-at-once', 'revert-at-once'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const id = tester.newId();
    const purpose = `one of ${TIMES} at once with one redemption id`;
    const deducted = await times(TIMES, () => tester.deduct({ purpose, points: 1, id }));
    const left = await tester.points('after ten at once');
    const answers = notOnce(deducted, ['ERR-DUPLICATE-REQUEST']);
    const moved = notBalance(before - 1, left, `${TIMES} deductions of 1 with one redemption id`);
    // Where every repetition gets this answer, another check reports it.
    const isTold = tester.verdicts.isFailed('deduct-repeat-refused');
    const problem = moved ?? (isTold ? undefined : answers);
    tester.judge('deduct-at-once', problem, mostRelevant(deducted));
    const winner = deducted.find(({ reading }) => reading.kind === 'success');
    if (winner === undefined || left !== before - 1) {
      throw new StoryBlocked('The deduction before it went wrong (deduct-at-once).');
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
    tester.judge('revert-at-once', restored ?? (isSaid ? undefined : told), mostRelevant(reverted));
  },
};

export const overdraft: Story = {
  title: 'several deductions of everything at once',
  checks: ['deduct-overdraft-at-once'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const all = tester.allOf(before);
    const purpose = `one of ${OVERDRAFTS} at once, each for the whole balance`;
    const deducted = await times(OVERDRAFTS, () =>
      tester.deduct({ purpose, points: all, id: tester.newId() }),
    );
    const left = await tester.points('after several at once');
    const successes = deducted.filter(({ reading }) => reading.kind === 'success').length;
    const problem =
      successes > 1 ? `${successes} of ${OVERDRAFTS} succeeded. Expected: one.` : undefined;
    const moved = notBalance(before - successes * all, left, `${successes} that succeeded`);
    tester.judge('deduct-overdraft-at-once', problem ?? moved, mostRelevant(deducted));
  },
};

/**
 * Undefined where at most one call succeeds and the codes refuse the others; else the fault. ERR-INTERNAL is allowed,
 * since it permits a retry.
 */
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

/** The two most telling calls, successes first. */
function mostRelevant(exchanges: readonly Exchange[]): Exchange[] {
  const successes = exchanges.filter(({ reading }) => reading.kind === 'success');
  const others = exchanges.filter(({ reading }) => reading.kind !== 'success');
  return [...successes.slice(0, 2), ...others].slice(0, 2);
}
