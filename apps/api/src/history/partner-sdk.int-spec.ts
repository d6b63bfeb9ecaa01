/** The partner SDK reads batches, windows of the past and histories from the real service. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LowmarkApiError, StakingClient } from '#libs/partner-sdk';
import { aWallet } from '#libs/testing';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';

const [ALICE, NOBODY] = [aWallet(0xabcdef), aWallet(0x404)];

let api: Api;
let client: StakingClient;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  const credential = await addPartner(api, 'sdk', { rate: 100, burst: 1000 });
  client = new StakingClient({ baseUrl: api.url, ...credential, clock: api.clock });
  await seedIndex(api, {
    events: [
      ['2026-11-10T10:00:00Z', ALICE, 100],
      ['2026-11-15T09:00:00Z', ALICE, 200],
      ['2026-11-21T00:00:00Z', ALICE, -300],
    ],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterAll(() => api.stop());

it('reads batches, whole and with a last day', async () => {
  const upper = `0x${ALICE.slice(2).toUpperCase()}`;
  const found = await client.snapshotsBatch([NOBODY, upper, ALICE]);
  expect([...found.keys()]).toEqual([NOBODY, ALICE]);
  expect(found.get(NOBODY)).toBeUndefined();
  expect(found.get(ALICE)).toEqual(await client.snapshots(ALICE));
  const past = await client.snapshotsBatch([ALICE], { lastDays: 1, endDay: '2026-11-14' });
  expect(past.get(ALICE)?.averageStakedAmount).toBe(100);
  expect(await client.snapshots(ALICE, { lastDays: 1, endDay: '2026-11-14' })).toEqual(
    past.get(ALICE),
  );
});

it('says what the service refuses', async () => {
  const today = await client
    .snapshots(ALICE, { endDay: '2026-11-21' })
    .catch((error: unknown) => error);
  expect(today).toBeInstanceOf(LowmarkApiError);
  expect(today).toMatchObject({ status: 409, code: 'DAY_NOT_OVER', retryAfterSeconds: 43198 });
});

it('goes through a history page by page', async () => {
  const amounts: number[] = [];
  for (let after: number | undefined; ;) {
    const page = await client.history(ALICE, { limit: 2, ...(after !== undefined && { after }) });
    amounts.push(...(page?.intervals ?? []).map(({ stakedAmount }) => stakedAmount));
    after = page?.next;
    if (after === undefined) break;
  }
  expect(amounts).toEqual([100, 300, 0]);
  expect(await client.history(NOBODY)).toBeUndefined();
});
