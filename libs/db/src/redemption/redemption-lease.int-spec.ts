/** Leases of several workers. One worker's lease is in test/simulation/engine/ledger/ledger-contract.int-spec.ts. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { LeaseLostError, type RedemptionStore, StaleRedemptionError } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { aUuid, decided, someWallet, START_MS } from './testing/builders.js';

let bench: LedgerBench;
let store: RedemptionStore;
beforeEach(async () => {
  bench = await LedgerBench.start({ poolSize: 8 });
  store = bench.redemptions;
});
afterEach(() => bench.stop());

const due = () => ({ type: 'call-due', requestId: aUuid() }) as const;

describe('a lease', () => {
  it('is never handed out twice by workers that take turns at once', async () => {
    const made = await Promise.all(Array.from({ length: 120 }, () => bench.created()));
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
    expect(taken.flat().sort()).toEqual(made.map(({ id }) => id).sort());
  });

  it('is given back with the last write', async () => {
    await bench.created();
    const [leased] = await store.lease({ count: 1, owner: 'a', leaseMs: 60_000 });
    if (leased === undefined) throw new Error('it is due');
    await store.apply(decided(leased.redemption, { type: 'cancel', by: 'user' }, { owner: 'a' }));
    const text = 'SELECT lease_owner FROM redemption.redemption';
    expect(await bench.database.query({ text })).toEqual([{ lease_owner: null }]);
  });
});

describe('a redemption that cannot be read', () => {
  /** Changes rows like an intruder who may disable the triggers. */
  async function spoil(...ids: readonly string[]): Promise<void> {
    await bench.database.transaction(async (client) => {
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
      spoilt.push((await bench.created({ nextActionAtMs: START_MS - 1000 })).id);
    }
    const others = [await bench.created(), await bench.created()];
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
      ids.unshift((await bench.created({ wallet, id: aUuid(START_MS + index) })).id);
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

describe('a write', () => {
  it('happens once, of 10 at the same version at once', async () => {
    const redemption = await bench.created();
    await store.lease({ count: 1, owner: 'a', leaseMs: 60_000 });
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.apply(decided(redemption, due(), { owner: 'a' }))),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(StaleRedemptionError);
    }
    const calls = await bench.database.query({ text: 'SELECT FROM redemption.partner_call' });
    expect(calls).toHaveLength(1);
  });

  it('of a user goes past a lease, and makes the worker read again', async () => {
    const redemption = await bench.created();
    await store.lease({ count: 1, owner: 'a', leaseMs: 60_000 });
    await bench.cancelled(redemption);
    await expect(store.apply(decided(redemption, due(), { owner: 'a' }))).rejects.toThrow(
      LeaseLostError,
    );
  });
});
