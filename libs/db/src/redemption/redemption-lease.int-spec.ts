import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  type Database,
  LeaseLostError,
  RedemptionMissingError,
  RedemptionStore,
  StaleRedemptionError,
} from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

let test: TestDatabase | undefined;
let database: Database;
let store: RedemptionStore;
beforeEach(async () => {
  await test?.drop();
  test = await createTestDatabase();
  database = await test.open({ poolSize: 8 });
  store = new RedemptionStore(database);
});
afterAll(() => test?.drop());

async function created(change: Partial<Redemption> = {}): Promise<Redemption> {
  const redemption = aNewRedemption(change);
  await store.create(redemption, aKey(), someLimits());
  return redemption;
}

function lease(owner: string, leaseMs = 60_000) {
  return store.lease({ count: 1, owner, leaseMs });
}

function begin(redemption: Redemption, owner: string) {
  return decided(redemption, { type: 'call-due', requestId: aUuid() }, { owner });
}

describe('a lease', () => {
  it('is never handed out twice by workers that take turns at once', async () => {
    const ids = await Promise.all(Array.from({ length: 120 }, async () => (await created()).id));
    const taken = await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const mine: string[] = [];
        for (;;) {
          const rows = await store.lease({ count: 3, owner: `worker-${worker}`, leaseMs: 60_000 });
          if (rows.length === 0) return mine;
          mine.push(...rows.map(({ redemption }) => redemption.id));
        }
      }),
    );
    expect(taken.flat().sort()).toEqual(ids.sort());
  });

  it('is given to the longest due, and to none that is not due yet', async () => {
    const later = await created({ nextActionAtMs: START_MS + 5 });
    const first = await created({ nextActionAtMs: START_MS });
    await created({ nextActionAtMs: START_MS + 10 });
    const all = { count: 5, owner: 'a', leaseMs: 1000 };
    const leased = await store.lease({ ...all, dueByMs: START_MS + 5 });
    expect(leased.map(({ redemption }) => redemption)).toEqual([first, later]);
  });

  it('that ran out is handed out again, and what its old owner writes is refused', async () => {
    const redemption = await created();
    expect(await lease('old', 1)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await lease('new')).toEqual([{ redemption, place: null }]);
    await expect(store.apply(begin(redemption, 'old'))).rejects.toThrow(LeaseLostError);
    await expect(store.renew(redemption.id, 'old', 1000)).rejects.toThrow(LeaseLostError);
    expect(await store.release(redemption.id, 'old')).toBe(false);
    await store.apply(begin(redemption, 'new'));
  });

  it('can be renewed, and given back', async () => {
    const { id } = await created();
    await lease('a', 20);
    await store.renew(id, 'a', 60_000);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await lease('b')).toEqual([]);
    expect(await store.release(id, 'a')).toBe(true);
    expect(await lease('b')).toHaveLength(1);
  });

  it('is given back with a write that says so, and with the last one', async () => {
    const redemption = await created();
    await lease('a');
    const write = begin(redemption, 'a');
    await store.apply({ ...write, release: true });
    expect(await lease('b')).toHaveLength(1);
    const { requestId } = write.decision.next.openCall ?? { requestId: aUuid() };
    const refusal = {
      type: 'deduct-refused',
      requestId,
      code: 'ERR-INSUFFICIENT-POINTS',
    } as const;
    await store.apply(decided(write.decision.next, refusal, { owner: 'b' }));
    const [row] = (await database.pool.query('SELECT lease_owner FROM redemption.redemption')).rows;
    expect(row).toEqual({ lease_owner: null });
  });
});

describe('a redemption that cannot be read', () => {
  /** Changes rows like an intruder who may disable the triggers. */
  async function spoil(...ids: readonly string[]): Promise<void> {
    await database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `UPDATE redemption.redemption SET quote_expires_at = 'infinity' WHERE id = ANY ($1)`,
        [ids],
      );
    });
  }

  it('is set aside for ten minutes and told, and others are leased in its place', async () => {
    const spoilt: string[] = [];
    for (let index = 0; index < 3; index++) {
      spoilt.push((await created({ nextActionAtMs: START_MS - 1000 })).id);
    }
    const others = [await created(), await created()];
    await spoil(...spoilt);
    const told: string[] = [];
    const lease = (dueByMs: number) =>
      store.lease({
        ...{ count: 2, owner: 'a', leaseMs: 60_000, dueByMs },
        onUnreadable: ({ redemptionId, code }) => told.push(`${redemptionId} ${code}`),
      });
    const leased = await lease(START_MS);
    expect(leased.map(({ redemption }) => redemption.id).sort()).toEqual(
      others.map(({ id }) => id).sort(),
    );
    const named = spoilt.map((id) => `${id} REDEMPTION_UNREADABLE`);
    expect(told.sort()).toEqual(named.sort());
    expect(await lease(START_MS + 599_999)).toEqual([]);
    expect(told).toHaveLength(3);
    await lease(START_MS + 600_000);
    expect(told).toHaveLength(6);
  });

  it('is left out of what its wallet is shown, and no other is', async () => {
    const wallet = someWallet();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      ids.unshift((await created({ wallet, id: aUuid(START_MS + index) })).id);
    }
    const [first, second, third, fourth, ...rest] = ids;
    await spoil(String(second), String(third));
    const listed = async (limit: number, before?: UuidV7) =>
      (await store.list(wallet, limit, before)).map(({ redemption }) => redemption.id);
    expect(await listed(2)).toEqual([first, fourth]);
    expect(await listed(9)).toEqual([first, fourth, ...rest]);
    expect(await listed(9, fourth as UuidV7)).toEqual(rest);
    await expect(store.find(wallet, second as UuidV7)).rejects.toMatchObject({
      code: 'REDEMPTION_UNREADABLE',
      message: expect.stringContaining(String(second)),
    });
  });
});

describe('a redemption of which nothing was learnt', () => {
  it('is given back and due later, in the same version', async () => {
    const redemption = await created();
    await lease('a');
    await store.postpone(redemption, 'a', START_MS + 15_000);
    const due = { count: 5, owner: 'b', leaseMs: 1000 };
    expect(await store.lease({ ...due, dueByMs: START_MS + 14_999 })).toEqual([]);
    const [again] = await store.lease({ ...due, dueByMs: START_MS + 15_000 });
    expect(again?.redemption).toEqual({ ...redemption, nextActionAtMs: START_MS + 15_000 });
  });

  it('keeps its time where somebody moved it on meanwhile, and its lease where that is another one', async () => {
    const redemption = await created();
    await lease('a');
    await store.postpone(redemption, 'b', START_MS + 15_000);
    expect(await lease('b')).toEqual([]);
    const begun = decided(redemption, { type: 'call-due', requestId: aUuid() });
    await store.apply(begun);
    await store.postpone(redemption, 'a', START_MS + 15_000);
    expect(await lease('b')).toEqual([{ redemption: begun.decision.next, place: null }]);
  });
});

describe('a write', () => {
  it('happens once, of 10 at the same version at once', async () => {
    const redemption = await created();
    await lease('a');
    const writes = Array.from({ length: 10 }, () => store.apply(begin(redemption, 'a')));
    const ends = await Promise.allSettled(writes);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(StaleRedemptionError);
    }
    const calls = await database.pool.query('SELECT FROM redemption.partner_call');
    expect(calls.rowCount).toBe(1);
  });

  it('of a user goes past a lease, and makes the worker read again', async () => {
    const redemption = await created();
    await lease('a');
    await store.apply(decided(redemption, { type: 'cancel', by: 'user' }, { actor: 'user' }));
    await expect(store.apply(begin(redemption, 'a'))).rejects.toThrow(LeaseLostError);
  });

  it('to a redemption that is not there says so', async () => {
    const write = begin(aNewRedemption(), 'a');
    await expect(store.apply(write)).rejects.toThrow(RedemptionMissingError);
  });
});
