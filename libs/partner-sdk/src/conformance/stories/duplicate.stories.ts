/** A redemption id that comes again while a newer deduction of the player stands, and with other terms. */
import { idText } from '../run/books.js';
import { Blocked } from '../run/stop.js';
import { notBalance, readable, type Tester, transactionOf } from '../run/tester.js';
import { type Exchange } from '../wire/exchange.js';
import { randomAddress } from '../wire/random-address.js';
import { type Story } from './story.js';

/** @param emptyAddress another player, if there is one: a partner may look for the player first */
export function duplicates(emptyAddress: string | undefined): Story {
  return {
    title: 'an older redemption id again, and with other terms',
    checks: ['deduct-repeat-other-terms'],
    async run(tester) {
      const { verdicts } = tester;
      for (const check of ['deduct-repeat-once', 'deduct-repeat-refused'] as const) {
        if (verdicts.isFailed(check)) throw new Blocked(`No repetition is recognised (${check}).`);
      }
      const before = await tester.points('before', 2);
      const [id, newer] = [tester.newId(), tester.newId()];
      transactionOf(await tester.deduct({ purpose: 'an older deduction', points: 1, id }));
      transactionOf(await tester.deduct({ purpose: 'a newer one', points: 1, id: newer }));
      // The ids that duplicates name are compared over the whole run.
      await tester.deduct({ purpose: 'the older redemption id again', points: 1, id });
      const again = [
        await tester.deduct({ purpose: 'the same id with other points', points: 2, id }),
        await tester.deduct({
          purpose: 'the same id with another wallet',
          points: 1,
          id,
          address: emptyAddress ?? randomAddress(),
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
}

/** Undefined where nothing was taken and nothing named. @throws Blocked */
function notPlain({ purpose, reading }: Exchange): string | undefined {
  const { kind, fields } = readable(reading);
  if (kind === 'success') return `The call (${purpose}) succeeded. Expected: a refusal.`;
  const named = idText(fields['partnerTransactionId']);
  return named === '' ? undefined : `The answer (${purpose}) names the deduction ${named}.`;
}

/** The books know one amount of a redemption: what was taken with another goes back here. */
async function takeBack(tester: Tester, id: string, taken: Exchange | undefined): Promise<void> {
  if (taken?.reading.kind !== 'success') return;
  const transactionId = transactionOf(taken);
  await tester.revert({ purpose: 'give the other points back', points: 2, id, transactionId });
}
