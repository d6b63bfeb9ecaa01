import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId, type Redemption, type RedemptionEvent } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type Database, RedemptionStore } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  planOf,
  someLimits,
} from '../redemption/testing/builders.js';
import { eventsOf, subscribe, type Subscribed } from './webhook-bench.support.js';

let test: TestDatabase;
let admin: Database;
let store: RedemptionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  admin = await test.open();
  // Connects like the service, which has no right to write events.
  store = new RedemptionStore(await test.open({ url: test.urlAs('redemption') }));
});
afterAll(() => test.drop());

async function created(partner: PartnerId): Promise<Redemption> {
  const redemption = aNewRedemption({ partner });
  await store.create(redemption, aKey(), someLimits());
  return redemption;
}

async function after(redemption: Redemption, event: RedemptionEvent): Promise<Redemption> {
  const write = decided(redemption, event);
  await store.apply(write);
  return write.decision.next;
}

async function claimed(redemption: Redemption): Promise<Redemption> {
  const requestId = aUuid();
  const deducting = await after(redemption, { type: 'call-due', requestId });
  const confirmed = {
    type: 'deduct-confirmed',
    requestId,
    partnerTransactionId: redemption.id,
  } as const;
  const deducted = await after(deducting, confirmed);
  const paying = await after(deducted, { type: 'plan-committed', plan: planOf(deducted) });
  const evidence = claimOf(paying);
  return after(paying, { type: 'payout-paid', redemptionId: paying.id, evidence });
}

const statuses = async (one: Subscribed): Promise<unknown[]> =>
  (await eventsOf(admin, one)).map(({ type, data }) => [type, data['redemptionId']]);

describe('a redemption', () => {
  it('is told when its public status changes, to subscribers of its partner only', async () => {
    const one = await subscribe(admin, ['redemption.*', 'day.sealed']);
    const deaf = await subscribe(admin, ['day.sealed']);
    const other = await subscribe(admin, ['redemption.*']);
    const { id, wallet } = await claimed(await created(one.partnerId));
    const failed = await after(await created(one.partnerId), { type: 'cancel', by: 'user' });
    await created(deaf.partnerId);
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
    const redemption = await created(one.partnerId);
    const write = decided(redemption, { type: 'call-due', requestId: aUuid() });
    await store.apply(write);
    await expect(store.apply(write)).rejects.toMatchObject({ code: 'REDEMPTION_STALE' });
    expect(await statuses(one)).toHaveLength(2);
  });
});
