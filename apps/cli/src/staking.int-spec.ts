import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditRunStore, IndexStore, type IndexState } from '#libs/db';
import { type Address, type BlockHash, type BlockRef, dayOf } from '#libs/domain';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import {
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { runCaptured } from './testing/cli-bench.support.js';
import { stakesWith } from './testing/stakes-of.support.js';

const START = 1_760_000_000;
const STAKES = new Map<Address, bigint>(
  Array.from({ length: 250 }, (_, index) => [aWallet(0x1000 + index), BigInt(index + 1) * 1000n]),
);
const GONE = aWallet(0x1000);
const WRONG = aWallet(0x1010);
const DEPTH = 4;

let chain: TestChain;
let test: TestDatabase;
let store: IndexStore;
let last: BlockRef;

beforeAll(async () => {
  [chain, test] = await Promise.all([
    startChain({ deployedSeconds: START, finalityDepth: DEPTH }),
    createTestDatabase(),
  ]);
  const stakes = [...STAKES].map(([wallet, amount]) => stake(wallet, amount));
  await chain.player.block(START + 12, ...stakes.slice(0, 125));
  await chain.player.block(START + 24, ...stakes.slice(125));
  await chain.player.block(START + 36, withdraw(GONE, STAKES.get(GONE) ?? 0n));
  last = await blockOf('latest');
  for (let block = 0; block < DEPTH; block++) await chain.player.block(START + 48 + block * 12);
  store = new IndexStore(await test.open());
});
afterAll(() => Promise.all([chain.stop(), test.drop()]));

async function blockOf(tag: string): Promise<BlockRef> {
  const block = await chain.rpc.call<Record<'number' | 'hash' | 'timestamp', string>>(
    'eth_getBlockByNumber',
    tag,
    false,
  );
  const { number, hash, timestamp } = block;
  return {
    number: BigInt(number),
    hash: hash as BlockHash,
    timestampSeconds: Number(timestamp),
  };
}

/** Writes an index of this chain up to its final block, with wrong balances where given. */
async function anIndex(
  wrong: ReadonlyMap<Address, bigint>,
  contracts: readonly Address[] = [chain.contracts.staking],
): Promise<IndexState> {
  await test.empty();
  const first = await blockOf('0x0');
  const initial = await store.create(
    anInitialIndex({
      chainId: chain.chainId,
      stakeContract: contracts[0] ?? GONE,
      tokenContract: chain.contracts.token,
      settings: { stakeContracts: contracts, startBlock: '1', events: [] },
      head: first,
    }),
  );
  const fence = await store.takeLead();
  const balances = new Map([...STAKES, [GONE, 0n] as const, ...wrong]);
  const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
  const { number, timestampSeconds } = last;
  await store.commit({
    fence,
    previousHead: initial.head,
    head: last,
    folded: aFold({
      changes: [...balances].map(([wallet, balance]) => ({
        ...{ wallet, balance, blockNumber: number, timestampSeconds },
      })),
      days: [...balances].map(([wallet, closing]) => ({
        ...{ wallet, day: dayOf(timestampSeconds), low: 0n, closing },
      })),
      total,
    }),
    blocks: [last],
    finalised: last,
    synced: true,
  });
  return initial;
}

async function audit(...argv: string[]) {
  return auditAt({}, ...argv);
}

async function auditAt(changes: Record<string, string>, ...argv: string[]) {
  const settings = { DATABASE_URL: test.url, RPC_URLS: chain.url, ...changes };
  const { code, out, err } = await runCaptured(['audit', ...argv], settings);
  // A slow machine is told how far it is.
  return { code, out, err: err.replace(/^\d+ wallets compared.*\n/gm, '') };
}

describe('audit', () => {
  it('finds that all wallets and their sum agree with the contract', async () => {
    await anIndex(new Map());
    const { code, out, err } = await audit('--wallets', 'all');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/wallets +250 in the index, 250 compared/);
    expect(out).toContain('The index and the contract agree: the balances and the sum.');
  });

  it('alerts with both figures of a wallet and of the sum, and fails', async () => {
    await anIndex(new Map([[WRONG, 17_005n]]));
    const { code, out } = await audit('--wallets', 'all', '--json');
    expect(code).toBe(1);
    const sum = [...STAKES].reduce((total, [, amount]) => total + amount, 0n) - 1000n;
    expect(JSON.parse(out)).toMatchObject({
      agrees: false,
      ...{ wallets: 250, compared: 250 },
      total: { indexed: String(sum + 5n), contract: String(sum) },
      differences: [{ wallet: WRONG, indexed: '17005', contract: '17000' }],
    });
    const text = await audit('--wallets', 'all');
    expect(text.code).toBe(1);
    expect(text.out).toMatch(new RegExp(`${WRONG} +0\\.0+17005 +0\\.0+17 +\\+0\\.0+5\n`));
    expect(text.out).toMatch(/ALERT: .* The sum is off by \+0\.0+5\./);
  });

  it('adds up several contracts', async () => {
    // The same contract is listed twice, so every balance counts twice.
    const { staking } = chain.contracts;
    const twice = new Map([...STAKES].map(([wallet, amount]) => [wallet, amount * 2n]));
    twice.set(GONE, 0n);
    await anIndex(twice, [staking, staking]);
    expect(await audit('--wallets', 'all')).toMatchObject({ code: 0 });
  });

  it('says what keeps it from comparing', async () => {
    await anIndex(new Map());
    const views = { totalView: [], balanceView: [] };
    const blind = await auditAt({ STAKE_EVENTS: await stakesWith(views) });
    expect(blind).toMatchObject({ code: 1, out: '' });
    expect(blind.err).toContain('[AUDIT_IMPOSSIBLE]');
    const late = await audit('--block', '999');
    expect(late.err).toMatch(/Block 999 is not among the final blocks .* takes 1 to 6/);
    const wrong = await auditAt({ RPC_URLS: 'http://127.0.0.1:1/?key=hunter2' });
    expect(wrong.code).toBe(1);
    expect(wrong.err).not.toContain('hunter2');
    expect((await audit('--wallets', '0')).err).toContain('Expected all, or a number');
    await test.empty();
    expect((await audit()).err).toContain('There is no index yet.');
  });

  it('shows the last nightly audit', async () => {
    await anIndex(new Map());
    const none = await audit('--last');
    expect(none.err).toContain('The indexer has made no audit yet');
    const runs = new AuditRunStore(await test.open());
    const fence = (await store.state())?.fence ?? 0n;
    const at = {
      startedAt: new Date('2026-11-20T03:00:00Z'),
      finishedAt: new Date('2026-11-20T03:00:09Z'),
    };
    await runs.record(fence, {
      ...at,
      result: 'different',
      blockNumber: 3n,
      blockHash: last.hash,
      wallets: 250,
      compared: 20,
      differences: 1,
      different: [{ wallet: WRONG, indexed: 17_005n, contract: 17_000n }],
      indexedTotal: 5n,
      contractTotal: 5n,
      sums: { stored: 5n, closings: 5n, balances: 5n },
    });
    const different = await audit('--last');
    expect(different.code).toBe(1);
    expect(different.out).toMatch(/started +2026-11-20T03:00:00.000Z\n.*\nresult +different\n/);
    expect(different.out).toMatch(new RegExp(`${WRONG} +0\\.0+17005 +0\\.0+17 +\\+0\\.0+5\n`));
    await runs.record(fence, { ...at, result: 'impossible', reason: 'No endpoint answers.' });
    const impossible = await audit('--last');
    expect(impossible.code).toBe(1);
    expect(impossible.out).toMatch(/result +impossible\nreason +No endpoint answers\.\n/);
    expect(impossible.out).toContain(WRONG);
    const { out } = await audit('--last', '--json');
    expect(JSON.parse(out)).toMatchObject({
      last: { result: 'impossible' },
      compared: { differences: 1, indexedTotal: '5' },
    });
    expect((await audit('--last', '--wallets', '3')).err).toContain('cannot be used with');
  });

  it('takes an earlier block', async () => {
    await anIndex(new Map());
    const { code, out } = await audit('--wallets', 'all', '--block', '2');
    expect(code).toBe(0);
    expect(out).toMatch(/sum of the index +0(\.0+)? LOW/);
  });
});
