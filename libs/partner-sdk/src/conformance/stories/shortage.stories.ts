import { notBalance, notRefused, notSucceeded, transactionOf } from '../run/tester.js';
import { type Story } from './story.js';

/**
 * More than there is. A tester cannot add points, so it takes one away first: what is left is too little for the whole balance,
 * until that one is given back.
 */
export const shortage: Story = {
  title: 'too few points, then enough',
  checks: ['deduct-insufficient', 'deduct-again-after-refusal', 'deduct-repeat-before-balance'],
  async run(tester) {
    const before = await tester.points('before', 1);
    const all = Math.floor(before);
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
  async run(tester) {
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
  async run(tester) {
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
