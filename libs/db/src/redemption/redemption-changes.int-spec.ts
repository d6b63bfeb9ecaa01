/** Checks what open pages are told against the rows themselves. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, type Redemption, type RedemptionEvent } from '#libs/domain';
import { createTestDatabase, testEvidence, type TestDatabase } from '#libs/testing';
import { type Database, RedemptionChanges, RedemptionStore } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

const MINUTE_MS = 60_000;
/** Later than the ids of all rows, by so much that no commit of a row can still be late. */
const LATER_MS = START_MS + 60 * MINUTE_MS;

let test: TestDatabase;
let database: Database;
let store: RedemptionStore;
let changes: RedemptionChanges;
beforeEach(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('redemption') });
  store = new RedemptionStore(database, testEvidence());
  changes = new RedemptionChanges(database, testEvidence());
});
afterEach(() => test.drop());

async function aStored(change: Partial<Redemption> = {}, nowMs = START_MS): Promise<Redemption> {
  const redemption = aNewRedemption(change, nowMs);
  await store.create(redemption, aKey(), someLimits({ maxOpen: 99 }));
  return redemption;
}

async function apply(before: Redemption, event: RedemptionEvent): Promise<Redemption> {
  const write = decided(before, event);
  await store.apply(write);
  return write.decision.next;
}

const cancel = (before: Redemption): Promise<Redemption> =>
  apply(before, { type: 'cancel', by: 'user' });
const begin = (before: Redemption): Promise<Redemption> =>
  apply(before, { type: 'call-due', requestId: aUuid() });

const seenAs = ({ id, wallet, version }: Redemption, isWatched: boolean) => ({
  ...{ id, wallet, version, isWatched },
});

describe('a look', () => {
  it('has the open redemptions of all wallets asked for, and of no other', async () => {
    const [one, two] = [await aStored(), await aStored()];
    await aStored();
    const moved = await begin(two);
    const wallets = [one.wallet, two.wallet, someWallet()];
    const { seen, asOfMs } = await changes.look({ wallets, watched: [], sinceMs: LATER_MS });
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([seenAs(one, true), seenAs(moved, true)]));
    expect(asOfMs).toBeGreaterThan(START_MS);
    const none = await changes.look({ wallets: [], watched: [], sinceMs: 0 });
    expect(none.seen).toEqual([]);
  });

  it('has what was watched and has ended once more, and says that it may be let go', async () => {
    const open = await aStored();
    const ended = await cancel(open);
    const look = (watched: Redemption['id'][], sinceMs: number) =>
      changes.look({ wallets: [open.wallet], watched, sinceMs });
    expect((await look([open.id], LATER_MS)).seen).toEqual([seenAs(ended, false)]);
    expect((await look([], LATER_MS)).seen).toEqual([]);
    // So new that a commit may be late. It is watched for a while, whether ended or not.
    expect((await look([], START_MS + MINUTE_MS)).seen).toEqual([seenAs(ended, true)]);
    expect((await look([], START_MS + 4 * MINUTE_MS)).seen).toEqual([seenAs(ended, true)]);
    expect((await look([], START_MS + 6 * MINUTE_MS)).seen).toEqual([]);
  });

  it('loses none to a caller who passes on what it was given, whatever happens between two looks', async () => {
    const wallet = someWallet();
    let watched: Redemption['id'][] = [];
    const versions = new Map<string, number>();
    const look = async (): Promise<void> => {
      const { seen } = await changes.look({ wallets: [wallet], watched, sinceMs: LATER_MS });
      for (const one of seen) versions.set(one.id, one.version);
      watched = seen.filter(({ isWatched }) => isWatched).map(({ id }) => id);
    };
    const [first, second] = [await aStored({ wallet }), await aStored({ wallet })];
    await look();
    const begun = await begin(first);
    const ended = await cancel(second);
    const third = await aStored({ wallet });
    await look();
    await look();
    const now = [begun, ended, third].map(({ id, version }) => [id, version] as const);
    expect(versions).toEqual(new Map(now));
    expect(watched.toSorted()).toEqual([begun.id, third.id].toSorted());
  });
});

describe('reading', () => {
  it('gives the rows that are there, by their ids, and each as it was written', async () => {
    const [one, two] = [await aStored(), await aStored({}, START_MS + MINUTE_MS)];
    const found = await changes.read([two.id, aUuid(), one.id]);
    expect(found.map(({ redemption }) => redemption)).toEqual([one, two]);
    expect(await changes.read([])).toEqual([]);
  });

  it('leaves out a row that cannot be read, and gives the others', async () => {
    const [forged, good] = [await aStored(), await aStored({}, START_MS + 1)];
    const admin = await test.open();
    // Removes what otherwise refuses such a row.
    await admin.query({
      text: 'ALTER TABLE redemption.redemption DISABLE TRIGGER ALL, DROP CONSTRAINT dead_only_where_authorised',
    });
    const text = `UPDATE redemption.redemption SET dead_evidence = '{"outcome": "dead"}' WHERE id = $1`;
    await admin.query({ text }, [forged.id]);
    const found = await changes.read([forged.id, good.id]);
    expect(found.map(({ redemption }) => redemption.id)).toEqual([good.id]);
  });
});

describe('what has changed since a moment', () => {
  async function idsSince(wallet: Address, sinceMs: number | undefined, most = 9) {
    const found = await changes.changedSince(wallet, sinceMs, most);
    return found?.map(({ redemption }) => redemption.id);
  }

  it('is the open ones, and those that have ended since, of this wallet alone', async () => {
    const wallet = someWallet();
    const open = await aStored({ wallet });
    const ended = await cancel(await aStored({ wallet }, START_MS + MINUTE_MS));
    await aStored();
    const nowMs = await changes.asOfMs();
    expect(await idsSince(wallet, undefined)).toEqual([open.id]);
    // Changes shortly before the moment count as well, because a commit may have waited for a standby.
    expect(await idsSince(wallet, nowMs)).toEqual([open.id, ended.id]);
    expect(await idsSince(wallet, nowMs + 4 * MINUTE_MS)).toEqual([open.id, ended.id]);
    expect(await idsSince(wallet, nowMs + 6 * MINUTE_MS)).toEqual([open.id]);
  });

  it('is said to be too much where there is more than asked for', async () => {
    const wallet = someWallet();
    for (const minute of [0, 1, 2]) await aStored({ wallet }, START_MS + minute * MINUTE_MS);
    expect(await idsSince(wallet, undefined, 3)).toHaveLength(3);
    expect(await idsSince(wallet, undefined, 2)).toBeUndefined();
  });
});
