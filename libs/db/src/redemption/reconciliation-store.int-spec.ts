import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, type Difference } from '#libs/domain';
import { KnownVaults } from '../index.js';
import { exclusively } from './exclusively.js';
import { CHAIN, FINAL, onChain, LedgerBench, TOKENS } from './ledger-bench.support.js';
import { aBlock, aNewRedemption, PLACE, START_MS } from './testing/builders.js';

const NOTHING = { count: 0, tokens: 0n };
const OTHER = `0x${'7b'.repeat(20)}` as Address;

let bench: LedgerBench;
beforeEach(async () => {
  bench = await LedgerBench.start();
});
afterEach(() => bench.stop());

describe('the checkpoint', () => {
  it('begins at the start block, whatever is said later', async () => {
    await bench.store.begin(PLACE, 12n);
    await bench.store.begin(PLACE, 99n);
    const { vault } = PLACE;
    const nothing = { startBlock: 12n, block: undefined, claims: NOTHING };
    expect(await bench.store.checkpoints(CHAIN)).toEqual([{ chainId: CHAIN, vault, ...nothing }]);
    expect(await bench.store.checkpoints(CHAIN + 1)).toEqual([]);
  });

  it('moves on with what was read, and counts nothing twice', async () => {
    const [one, two] = [await bench.claimed(), await bench.claimed()];
    const first = await bench.store.advance(
      await bench.begun(),
      aBlock(20),
      [onChain(one)],
      START_MS,
    );
    expect(first).toMatchObject({ block: aBlock(20), claims: { count: 1, tokens: TOKENS } });
    const both = [onChain(one), onChain(two)];
    const second = await bench.store.advance(first, aBlock(30), both, START_MS);
    expect(second).toMatchObject({ block: aBlock(30), claims: { count: 2, tokens: 2n * TOKENS } });
    expect(await bench.store.advance(second, aBlock(30), both, START_MS)).toEqual(second);
    expect(await bench.store.checkpoints(CHAIN)).toEqual([second]);
  });

  it('takes thousands of claims at once', async () => {
    const redemption = aNewRedemption();
    const claims = Array.from({ length: 12_001 }, (_, index) =>
      onChain(redemption, {
        vaultId: `0x${index.toString(16).padStart(64, '0')}`,
        redemptionId: undefined,
        amount: 2n,
      }),
    );
    const { claims: sums } = await bench.read(...claims);
    expect(sums).toEqual({ count: 12_001, tokens: 24_002n });
    expect((await bench.differences())['claim-without-row']).toHaveLength(20);
  });

  it('is moved by one process only', async () => {
    const checkpoint = await bench.begun();
    await bench.store.advance(checkpoint, aBlock(20), [], START_MS);
    const stale = { code: 'RECONCILIATION_MOVED' };
    const claim = onChain(await bench.claimed());
    await expect(
      bench.store.advance(checkpoint, aBlock(21), [claim], START_MS),
    ).rejects.toMatchObject(stale);
    await expect(bench.store.forget(checkpoint)).rejects.toMatchObject(stale);
    expect(await bench.store.checkpoints(CHAIN)).toMatchObject([
      { block: aBlock(20), claims: NOTHING },
    ]);
  });

  it('goes back to the start where all is to be read again', async () => {
    const claim = onChain(await bench.claimed());
    const forgotten = await bench.store.forget(await bench.read(claim));
    expect(forgotten).toMatchObject({ block: undefined, claims: NOTHING });
    const again = await bench.store.advance(forgotten, FINAL, [claim], START_MS);
    expect(again.claims).toEqual({ count: 1, tokens: TOKENS });
  });
});

describe('a run', () => {
  it('is kept with its figures and differences, and for ever', async () => {
    expect(await bench.store.lastRun()).toBeUndefined();
    await bench.read(onChain(await bench.claimed()));
    const { figures } = await bench.store.books(CHAIN, 0);
    const difference: Difference = {
      kind: 'claim-without-row',
      severity: 'critical',
      count: 1,
      tokens: 10n ** 30n,
      text: 'one',
      subject: PLACE.vault,
      examples: [],
    };
    await bench.store.record(START_MS, figures, []);
    await bench.store.record(START_MS + 1, figures, [difference]);
    const sums = { count: 1, tokens: TOKENS };
    expect(await bench.store.lastRun()).toMatchObject({
      at: new Date(START_MS + 1),
      ledgers: figures.ledgers,
      chain: sums,
      ledger: sums,
      differences: [{ kind: 'claim-without-row', severity: 'critical' }],
    });
    await expect(
      bench.database.query({ text: 'DELETE FROM redemption.reconciliation_run' }),
    ).rejects.toThrow(/never changed or removed/);
  });

  it('is made by one process at a time, and by the next one after that', async () => {
    const other = await bench.another();
    const outcome = await bench.store.exclusively(() =>
      other.exclusively(() => Promise.resolve(1)),
    );
    expect(outcome).toEqual({ result: undefined });
    await expect(
      bench.store.exclusively(() => Promise.reject(new Error('failed'))),
    ).rejects.toThrow('failed');
    expect(await other.exclusively(() => Promise.resolve(2))).toEqual({ result: 2 });
  });

  it('keeps no transaction open meanwhile, and no connection', async () => {
    const narrow = await bench.another({ poolSize: 1 });
    await narrow.exclusively(async () => {
      expect(await narrow.checkpoints(1)).toEqual([]);
      const text = `SELECT state, backend_xid, backend_xmin FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
          AND (state <> 'idle' OR backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)`;
      expect(await bench.database.query({ text })).toEqual([]);
    });
  });

  it('is taken over from a process that no longer renews its lease, and that one stops', async () => {
    const take = (work: (lease: AbortSignal) => Promise<unknown>) =>
      exclusively(bench.database, 'reconciliation', work, 400);
    await take(async (lease) => {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      expect(lease.aborted).toBe(false);
      const text = `UPDATE redemption.task SET held_until = now() - interval '1 s' WHERE task = 'reconciliation'`;
      // As after a pause of the process: the lease is over before it is renewed.
      await bench.database.query({ text });
      const next = await take(async () => {
        await once(lease, 'abort');
        expect(lease.reason).toMatchObject({ code: 'TASK_LEASE_LOST' });
        return 2;
      });
      expect(next).toEqual({ result: 2 });
    });
    expect(await take(() => Promise.resolve(3))).toEqual({ result: 3 });
  });

  it('is not released by a process that has lost it to another one', async () => {
    const take = (work: () => Promise<unknown>) =>
      exclusively(bench.database, 'reconciliation', work, 60_000);
    let endNext: (value?: unknown) => void = () => undefined;
    let next: Promise<unknown> = Promise.resolve();
    await take(async () => {
      const text = `UPDATE redemption.task SET held_until = now() - interval '1 s' WHERE task = 'reconciliation'`;
      await bench.database.query({ text });
      await new Promise<void>((begun) => {
        next = take(() => {
          begun();
          return new Promise((resolve) => (endNext = resolve));
        });
      });
    });
    expect(await take(() => Promise.resolve(3))).toBeUndefined();
    endNext(2);
    expect(await next).toEqual({ result: 2 });
    expect(await take(() => Promise.resolve(3))).toEqual({ result: 3 });
  });
});

it('known vaults are those that were read and those that were planned on, each from its oldest block', async () => {
  const vaults = new KnownVaults(bench.database);
  expect(await vaults.of(CHAIN)).toEqual([]);
  await bench.authorised();
  expect(await vaults.of(CHAIN)).toEqual([{ vault: PLACE.vault, startBlock: PLACE.fromBlock }]);
  await bench.store.begin(PLACE, 5n);
  await vaults.add(CHAIN, { vault: OTHER, startBlock: 40n });
  await vaults.add(CHAIN, { vault: OTHER, startBlock: 1n });
  await bench.store.begin({ chainId: CHAIN + 1, vault: OTHER }, 1n);
  expect(await vaults.of(CHAIN)).toEqual([
    { vault: PLACE.vault, startBlock: 5n },
    { vault: OTHER, startBlock: 40n },
  ]);
});
