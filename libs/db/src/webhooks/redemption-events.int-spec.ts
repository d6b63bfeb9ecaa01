import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase } from '#libs/testing/database';
import { type Database } from '../index.js';
import { LedgerBench } from '../redemption/ledger-bench.support.js';
import { eventsOf, subscribe, type Subscribed } from './webhook-bench.support.js';

let admin: Database;
let bench: LedgerBench;
beforeAll(async () => {
  const test = await createTestDatabase();
  admin = await test.open();
  // Connects like the service, which has no right to write events.
  bench = new LedgerBench(test, await test.open({ url: test.urlAs('redemption') }));
});
afterAll(() => bench.stop());

const statuses = async (one: Subscribed): Promise<unknown[]> =>
  (await eventsOf(admin, one)).map(({ type, data }) => [type, data['redemptionId']]);

describe('a redemption', () => {
  it('is told when its public status changes, to subscribers of its partner only', async () => {
    const one = await subscribe(admin, ['redemption.*', 'day.sealed']);
    const deaf = await subscribe(admin, ['day.sealed']);
    const other = await subscribe(admin, ['redemption.*']);
    const { id, wallet } = await bench.claimed({ partner: one.partnerId });
    const failed = await bench.cancelled(await bench.created({ partner: one.partnerId }));
    await bench.created({ partner: deaf.partnerId });
    expect(await statuses(one)).toEqual([
      ['redemption.initial', id],
      ['redemption.pending', id],
      ['redemption.claimed', id],
      ['redemption.initial', failed.id],
      ['redemption.failed', failed.id],
    ]);
    expect([await statuses(deaf), await statuses(other)]).toEqual([[], []]);
    const [, , last] = await eventsOf(admin, one);
    expect(last).toEqual({
      type: 'redemption.claimed',
      orderKey: wallet,
      data: {
        ...{ redemptionId: id, walletAddress: wallet, status: 'claimed', points: 5000 },
        ...{ usdAmount: '50.00', tokenAmount: (340n * 10n ** 18n).toString(), tokenDecimals: 18 },
        transactionHash: `0x${'c'.repeat(64)}`,
      },
    });
  });

  it('that is not written is not told', async () => {
    const one = await subscribe(admin, ['redemption.*']);
    const redemption = await bench.created({ partner: one.partnerId });
    await bench.called(redemption);
    await expect(bench.called(redemption)).rejects.toMatchObject({ code: 'REDEMPTION_STALE' });
    expect(await statuses(one)).toHaveLength(2);
  });
});
