import { StoryBlocked } from '../run/caller.js';
import {
  notBalance,
  notRefused,
  notSucceeded,
  readable,
  type Story,
  transactionOf,
} from '../run/tester.js';

export const byRedemptionId: Story = {
  title: 'a revert by the redemption id alone',
  checks: ['revert-by-redemption-id'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const id = tester.newId();
    transactionOf(await tester.deduct({ purpose: 'deduct one point', points: 1, id }));
    const purpose = 'revert it without partnerTransactionId';
    const reverted = await tester.revert({ purpose, points: 1, id });
    const after = await tester.points('after');
    const refused = notSucceeded(reverted);
    const problem = refused ?? notBalance(before, after, 'the revert');
    tester.judge('revert-by-redemption-id', problem, [reverted]);
  },
};

export const mismatchedPair: Story = {
  title: 'a revert with two ids that do not belong together',
  checks: ['refuses-mismatched-pair', 'revert-right-deduction'],
  async play(tester) {
    await tester.points('before', 2);
    const [one, other] = [tester.newId(), tester.newId()];
    const first = await tester.deduct({ purpose: 'a deduction', points: 1, id: one });
    const second = await tester.deduct({ purpose: 'another', points: 1, id: other });
    const [mine, theirs] = [transactionOf(first), transactionOf(second)];
    if (mine === undefined || theirs === undefined || mine === theirs) {
      throw new StoryBlocked(
        'It needs two transaction ids (deduct-fields, transaction-ids-unique).',
      );
    }
    const left = await tester.points('after both');
    const purpose = "one's svcRedemptionId with the other's partnerTransactionId";
    const mixed = await tester.revert({ purpose, points: 1, id: one, transactionId: theirs });
    const after = await tester.points('after the mixed revert');
    const moved = notBalance(left, after, 'a revert with two ids that do not belong together');
    tester.judge('refuses-mismatched-pair', notRefused(mixed, []) ?? moved, [mixed]);
    const theOther = { purpose: 'revert the other', points: 1, id: other, transactionId: theirs };
    const untouched = await tester.revert(theOther);
    const reading = readable(untouched.reading);
    const isGone = reading.kind === 'refusal' && reading.code === 'ERR-ALREADY-REVERTED';
    const wrong = 'The other redemption was reverted: its partnerTransactionId decided.';
    tester.judge('revert-right-deduction', isGone ? wrong : undefined, [mixed, untouched]);
    await tester.revert({ purpose: 'revert the one', points: 1, id: one, transactionId: mine });
  },
};

export const tombstone: Story = {
  title: 'a revert that comes before its deduction',
  checks: ['revert-unknown', 'tombstones'],
  async play(tester) {
    const before = await tester.points('before', 1);
    const unknown = { points: 1, id: tester.newId(), transactionId: 'none-such' };
    const named = await tester.revert({ ...unknown, purpose: 'revert an unknown deduction' });
    const after = await tester.points('after the revert');
    const problem =
      notBalance(before, after, 'a revert of an unknown deduction') ??
      notRefused(named, ['ERR-TRANSACTION-NOT-FOUND']);
    tester.judge('revert-unknown', problem, [named]);
    const id = tester.newId();
    const purpose = 'revert an unknown deduction by its redemption id alone';
    const alone = await tester.revert({ purpose, points: 1, id });
    // A partner that requires a transaction id has understood only the first revert, which had one.
    const isBuried = notRefused(alone, ['ERR-TRANSACTION-NOT-FOUND']) === undefined;
    const buried = isBuried ? id : unknown.id;
    const late = 'the deduction, later than its revert';
    const deducted = await tester.deduct({ purpose: late, points: 1, id: buried });
    tester.judge('tombstones', notRefused(deducted, []), [isBuried ? alone : named, deducted]);
  },
};

const ROUNDS = 4;

export const overtaking: Story = {
  title: 'a deduction and its revert at once',
  checks: ['deduct-and-revert-at-once'],
  async play(tester) {
    const before = await tester.points('before', ROUNDS);
    const rounds = await Promise.all(
      Array.from({ length: ROUNDS }, async () => {
        const id = tester.newId();
        await tester.journalAhead(id, 1);
        return Promise.all([
          tester.deduct({ purpose: 'deduct, while it is reverted', points: 1, id }),
          tester.revert({ purpose: 'revert, while it is deducted', points: 1, id }),
        ]);
      }),
    );
    const after = await tester.points('after');
    let standing = 0;
    for (const [deducted, reverted] of rounds) {
      const isDeducted = readable(deducted.reading).kind === 'success';
      const isReverted = readable(reverted.reading).kind === 'success';
      standing += Number(isDeducted) - Number(isReverted);
    }
    const story = `${ROUNDS} pairs, of which ${standing} deductions stand by their answers,`;
    const problem = notBalance(before - standing, after, story);
    tester.judge('deduct-and-revert-at-once', problem, rounds[0] ?? []);
  },
};
