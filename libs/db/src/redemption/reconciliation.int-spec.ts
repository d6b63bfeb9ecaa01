/**
 * The ledger held against the claims on chain, and the claims that an operator has explained. Runs on a chain are in
 * apps/redemption/src/reconciliation.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, type Difference, type PartnerId, type Redemption } from '#libs/domain';
import { aPartnerId } from '#libs/testing/partner';
import { ClaimStore, ClaimWatchStore, KnownVaults, NoSuchClaimError } from '../index.js';
import { exclusively } from './exclusively.js';
import { CHAIN, CLAIM_BLOCK, FINAL, LedgerBench, onChain, TOKENS } from './ledger-bench.support.js';
import { aBlock, aNewRedemption, aUuid, PLACE, someWallet, START_MS } from './testing/builders.js';

const NOTHING = { count: 0, tokens: 0n };
const OTHER = `0x${'7b'.repeat(20)}` as Address;

let bench: LedgerBench;
let claims: ClaimStore;
beforeAll(async () => {
  bench = await LedgerBench.start();
  claims = new ClaimStore(bench.database);
});
beforeEach(() => bench.empty());
afterAll(() => bench.stop());

describe('the checkpoint', () => {
  it('begins at the start block, whatever is said later', async () => {
    await bench.store.begin(PLACE, 12n);
    await bench.store.begin(PLACE, 99n);
    const { vault } = PLACE;
    const nothing = { startBlock: 12n, block: undefined, claims: NOTHING };
    expect(await bench.store.checkpoints(CHAIN)).toEqual([{ chainId: CHAIN, vault, ...nothing }]);
    expect(await bench.store.checkpoints(CHAIN + 1)).toEqual([]);
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

describe('the books', () => {
  it('add up, partner by partner', async () => {
    const [busy, quiet] = [aPartnerId(), aPartnerId()].sort() as [PartnerId, PartnerId];
    await bench.claimed({ partner: busy });
    await bench.claimed({ partner: busy });
    await bench.reverted({ partner: busy });
    await bench.authorised({ partner: busy });
    await bench.created({ partner: busy });
    await bench.created({ partner: quiet });
    const { figures } = await bench.store.books(CHAIN, 0);
    const money = (count: number) => ({
      count,
      points: 5000n * BigInt(count),
      tokens: TOKENS * BigInt(count),
    });
    const figure = (partner: PartnerId, ...counts: [number, number, number, number]) => {
      const [all, claims, reverts, open] = counts.map(money);
      return { partner, deducted: all, claimed: claims, reverted: reverts, open };
    };
    expect(figures.ledgers).toEqual([figure(busy, 4, 2, 1, 1), figure(quiet, 0, 0, 0, 0)]);
    expect(figures.elsewhere).toEqual({ count: 2, tokens: 2n * TOKENS });
    expect(figures.vaults).toEqual([]);
  });

  it('leave out what is claimed above the checkpoint', async () => {
    await bench.claimed();
    await bench.store.advance(
      await bench.begun(),
      aBlock(Number(CLAIM_BLOCK.number) - 1),
      [],
      START_MS,
    );
    expect(await bench.differences()).toEqual({});
  });

  it.each([
    ['never authorised', 'deducted', {}, 'claim-unpayable'],
    ['reverted', 'reverted', {}, 'claim-unpayable'],
    ['of another amount', 'claimed', { amount: 7n }, 'claim-different'],
    ['of another recipient', 'claimed', { recipient: someWallet() }, 'claim-different'],
    ['of another amount, still open', 'authorised', { amount: 7n }, 'claim-different'],
  ] as const)('show a claim of a redemption %s', async (_case, make, change, kind) => {
    const redemption = await bench[make]();
    await bench.read(onChain(redemption, change));
    expect(await bench.differences()).toEqual({ [kind]: [redemption.id] });
  });

  it('show a claim on another vault than planned, on both vaults', async () => {
    const redemption = await bench.claimed();
    await bench.begun();
    const vault = someWallet();
    await bench.store.begin({ chainId: CHAIN, vault }, 0n);
    for (const checkpoint of await bench.store.checkpoints(CHAIN)) {
      const claims = checkpoint.vault === vault ? [onChain(redemption)] : [];
      await bench.store.advance(checkpoint, FINAL, claims, START_MS);
      await bench.store.settle(checkpoint);
    }
    expect(await bench.differences()).toEqual({
      'claim-different': [redemption.id],
      'row-without-claim': [redemption.id],
    });
  });

  it('show a claim that vanished from what was read', async () => {
    const redemption = await bench.claimed();
    await bench.read(onChain(redemption), onChain(await bench.claimed()));
    await bench.database.query({
      text: 'UPDATE redemption.reconciliation_checkpoint SET claims = 3',
    });
    expect(await bench.differences()).toEqual({ 'sums-differ': [] });
  });
});

const acknowledge = (id: string | undefined, note = 'The game has it: forgotten by the backup.') =>
  claims.acknowledge({
    id: id ?? '',
    note,
    atMs: START_MS,
    actor: 'operator:ann',
    command: 'reconciliation acknowledge',
  });
const listed = async (all = false) =>
  (await claims.list(0, { all, limit: 100 })).map(({ id }) => id);

describe('a claim without a row', () => {
  it('is no difference any more once it is acknowledged, and stays to be seen', async () => {
    const claim = onChain(aNewRedemption());
    await bench.read(claim);
    expect(await listed()).toEqual([claim.redemptionId]);
    expect(await acknowledge(claim.redemptionId)).toBe(1);
    expect(await bench.differences()).toEqual({});
    expect(await listed()).toEqual([]);
    expect(await claims.list(0, { all: true, limit: 100 })).toEqual([
      {
        id: claim.redemptionId,
        kind: 'without-row',
        state: null,
        chainId: PLACE.chainId,
        vault: PLACE.vault,
        recipient: claim.recipient,
        amount: TOKENS,
        block: claim.block.number,
        blockAt: new Date(claim.block.timestampSeconds * 1000),
        transactionHash: claim.transactionHash,
        acknowledged: {
          at: new Date(START_MS),
          actor: 'operator:ann',
          note: 'The game has it: forgotten by the backup.',
        },
      },
    ]);
    const [audit] = await bench.database.query({ text: 'SELECT * FROM redemption.audit' });
    expect(audit).toMatchObject({
      actor: 'operator:ann',
      command: 'reconciliation acknowledge',
      redemption_id: null,
      arguments: { id: claim.redemptionId },
      outcome: 'acknowledged',
    });
  });

  it('of another form is named by its id in the vault', async () => {
    const vaultId = `0x${'ab'.repeat(32)}`;
    await bench.read(onChain(aNewRedemption(), { vaultId, redemptionId: undefined }));
    expect(await acknowledge(vaultId)).toBe(1);
    expect(await bench.differences()).toEqual({});
  });

  it('is one again where the chain has it in another transaction', async () => {
    const claim = onChain(aNewRedemption());
    await bench.store.forget(await bench.read(claim));
    await bench.read(claim);
    await acknowledge(claim.redemptionId);
    const [checkpoint] = await bench.store.checkpoints(PLACE.chainId);
    if (checkpoint === undefined) throw new Error('no checkpoint');
    await bench.store.forget(checkpoint);
    await bench.read({ ...claim, transactionHash: `0x${'d'.repeat(64)}` });
    expect(await bench.differences()).toEqual({ 'claim-without-row': [claim.redemptionId] });
  });
});

describe('a claim of a redemption that must not be paid', () => {
  it.each([
    ['the reconciliation', (redemption: Redemption) => bench.read(onChain(redemption))],
    [
      'the watch',
      async (redemption: Redemption) => {
        await bench.begun();
        const watched = { ...PLACE, claims: [onChain(redemption)], nextBlock: undefined };
        await new ClaimWatchStore(bench.database).record({ ...watched, nowMs: START_MS });
      },
    ],
  ])('and that %s found is a difference again when its redemption moves on', async (_, find) => {
    const redemption = await bench.deducted();
    await find(redemption);
    expect(await acknowledge(redemption.id)).toBe(1);
    expect(await listed()).toEqual([]);
    expect(await bench.differences()).toEqual({});
    await bench.cancelled(redemption);
    await bench.read(onChain(redemption));
    expect(await bench.differences()).toEqual({ 'claim-unpayable': [redemption.id] });
    expect(await listed()).toEqual([redemption.id]);
  });
});

it.each(['0x', 'x', '', "' OR true --", aUuid()])('knows no claim of %j', async (id) => {
  await bench.read(onChain(aNewRedemption()));
  await expect(acknowledge(id)).rejects.toThrow(NoSuchClaimError);
  expect(await bench.database.query({ text: 'SELECT FROM redemption.audit' })).toEqual([]);
});

it('a claim that the worker has not recorded yet is not for a person', async () => {
  const redemption = await bench.authorised();
  await bench.read(onChain(redemption));
  await expect(acknowledge(redemption.id)).rejects.toThrow(NoSuchClaimError);
  expect(await listed()).toEqual([]);
  expect(await claims.list(START_MS + 1, { all: false, limit: 9 })).toMatchObject([
    { kind: 'overdue' },
  ]);
});
