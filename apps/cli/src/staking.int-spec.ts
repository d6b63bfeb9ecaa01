import { afterAll, beforeAll, describe, expect, it, beforeEach } from '@jest/globals';
import {
  AuditRunStore,
  IndexStore,
  type IndexState,
  PriceStore,
  PublicationStore,
  PublicationViews,
} from '#libs/db';
import {
  type Address,
  type BlockHash,
  type BlockRef,
  dayOf,
  dayText,
  type NodeHash,
} from '#libs/domain';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import {
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { runCaptured, CliBench } from './testing/cli-bench.support.js';
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

describe('prices', () => {
  let bench: CliBench;
  let prices: PriceStore;
  let fence: bigint;
  beforeAll(async () => {
    bench = await CliBench.start();
    prices = new PriceStore(bench.database);
    const index = new IndexStore(bench.database);
    await index.create(anInitialIndex());
    fence = await index.takeLead();
  });
  afterAll(() => bench.drop());
  beforeEach(async () => {
    await bench.database.query({
      text: 'TRUNCATE staking.price, staking.price_hold, staking.price_acceptance',
    });
  });

  const aPrice = (usd: string) => ({ usd, observedAt: new Date(), source: 'http:x' });

  /** Stores a held price as the indexer does: a thousandth of the previous price. */
  async function hold(usd: string): Promise<void> {
    await prices.record(fence, aPrice('0.15'));
    const about = { reason: 'jump', beforeUsd: '0.15', maxChange: '0.2', isNewHold: false };
    await prices.hold(fence, { price: aPrice(usd), ...about });
  }

  describe('price show', () => {
    it('says that nothing is held', async () => {
      const none = await bench.run('price', 'show');
      expect(none).toMatchObject({ code: 0, err: '' });
      expect(none.out).toMatch(/^stored +none\nheld +no\naccepted last +never\n$/);
      await prices.record(fence, aPrice('0.15'));
      const { out } = await bench.run('price', 'show');
      expect(out).toMatch(/^stored +0\.15 USD by http:x\nobserved +\d{4}.+ ago\nheld +no$/m);
    });

    it('says what is held, why, and what to do', async () => {
      await hold('0.00015');
      const { out } = await bench.run('price', 'show');
      expect(out).toMatch(/^because +it differs from the one before by more than a fifth$/m);
      expect(out).toMatch(/^before +0\.15 USD$/m);
      expect(out).toMatch(/^now +0\.00015 USD \(-99\.9 %\) by http:x$/m);
      expect(out).toContain('price accept 0.00015');
      const json = JSON.parse((await bench.run('price', 'show', '--json')).out) as object;
      expect(json).toMatchObject({
        stored: { usd: '0.15' },
        hold: { reason: 'jump', beforeUsd: '0.15', price: { usd: '0.00015' }, isAccepted: false },
        accepted: null,
      });
    });
  });

  describe('price accept', () => {
    it('notes the figure for the next reading, with an audit row', async () => {
      await hold('0.02');
      const ran = await bench.run('price', 'accept', '0.021', '--as', 'ann');
      expect(ran).toMatchObject({ code: 0, err: '' });
      expect(ran.out).toMatch(/^Accepted 0\.021 USD; 0\.02 was held\./);
      expect((await bench.audit())[0]).toMatchObject({
        actor: 'operator:ann',
        command: 'price accept',
        arguments: { usd: '0.021' },
        outcome: 'accepted',
      });
      // The indexer ends the hold when it reads a price near the accepted one.
      expect(await prices.quoted()).toMatchObject({ isHeld: true, acceptedUsd: '0.021' });
      expect(await prices.standing()).toMatchObject({
        beforeUsd: '0.021',
        lowestUsd: '0.021',
        highestUsd: '0.021',
        hold: { isAccepted: true },
      });
      const { out } = await bench.run('price', 'show');
      expect(out).toMatch(/^accepted last +0\.021 USD by operator:ann, /m);
      expect(out).toContain('A figure was accepted');
    });

    it('accepts no other price than the one that is held by now', async () => {
      await hold('0.02');
      const ran = await bench.run('price', 'accept', '0.15', '--as', 'ann');
      expect(ran.code).toBe(1);
      expect(ran.err).toMatch(/^The price that is held now is 0\.02 USD.*\[PRICE_MOVED\]$/m);
      expect((await bench.audit())[0]).toMatchObject({
        command: 'price accept',
        outcome: 'refused: PRICE_MOVED',
      });
      expect((await prices.quoted()).acceptedUsd).toBeUndefined();
    });

    it('is refused where nothing is held, and for what is no price', async () => {
      const ran = await bench.run('price', 'accept', '0.15');
      expect(ran).toMatchObject({ code: 1 });
      expect(ran.err).toContain('[PRICE_NOT_HELD]');
      for (const usd of ['0', '-1', '1e-3', 'NaN', '']) {
        expect((await bench.run('price', 'accept', '--', usd)).code).toBe(1);
      }
    });
  });
});

describe('registries', () => {
  const FIRST = 20_310;
  const place = { chainId: 5, registry: aWallet(0xe9) };
  const settings = { CHAIN_ID: '5', REGISTRY_ADDRESS: place.registry };
  const rootOf = (day: number): NodeHash => `0x${day.toString(16).padStart(64, '7')}` as NodeHash;

  let bench: CliBench;
  let store: PublicationStore;
  beforeAll(async () => {
    bench = await CliBench.start();
    store = new PublicationStore(bench.database, place);
    for (const day of [FIRST, FIRST + 3]) {
      await seal(day, rootOf(day));
      await store.add({ day, revision: 1, root: rootOf(day) }, 'default', 1);
    }
    await store.final(FIRST, 3);
  });
  afterAll(() => bench.drop());

  async function seal(day: number, root: NodeHash): Promise<void> {
    await bench.database.query({
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
      SELECT $1, coalesce(max(revision), 0) + 1, decode($2, 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test',
        (SELECT root FROM staking.sealed_day WHERE day = $1 ORDER BY revision DESC LIMIT 1)
      FROM staking.sealed_day WHERE day = $1`,
      values: [day, root.slice(2)],
    });
  }

  const run = (...argv: string[]) => bench.runWith({ settings }, 'registry', ...argv);

  describe('registry acknowledge', () => {
    const text = dayText(FIRST + 3);

    it.each(['2026-02-30', '20310'])('takes no %s for a day', async (day) => {
      const { code, err } = await run('acknowledge', day, '--note', 'by hand');
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('Expected a day') });
    });

    it('refuses what waits for nothing, and audits that', async () => {
      const { code, err } = await run('acknowledge', text, '--note', 'by hand', '--as', 'ann');
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining('[PUBLICATION_NOT_FOUND]'),
      });
      expect(await bench.audit()).toMatchObject([
        { actor: 'operator:ann', outcome: 'refused: PUBLICATION_NOT_FOUND' },
      ]);
    });

    it('takes a day out of the alerts, and audits that; status shows both', async () => {
      await store.refused(FIRST + 3, 'the registry holds another', 4);
      const before = await run('status', '--json');
      expect(JSON.parse(before.out)).toMatchObject({
        ...{ final: 1, lastDay: dayText(FIRST), different: 1, revised: 0, waiting: 0 },
        publications: [
          { day: text, status: 'refused', acknowledged: false, root: rootOf(FIRST + 3) },
          { day: dayText(FIRST), status: 'final' },
        ],
      });
      const { code } = await run('acknowledge', text, '--note', 'by hand', '--as', 'ann');
      expect(code).toBe(0);
      expect(await bench.audit()).toContainEqual(
        expect.objectContaining({
          ...{ actor: 'operator:ann', command: 'registry acknowledge', outcome: 'acknowledged' },
          arguments: { day: text, registry: place.registry, note: 'by hand' },
        }),
      );
      const after = await run('status');
      expect(after.out).toMatch(/another root on chain +0\n/);
      expect(after.out).toMatch(/refused +0x7+4f59 +the registry holds another/);
    });
  });

  describe('registry status', () => {
    it('names days that were sealed again', async () => {
      await seal(FIRST, rootOf(9));
      const { out } = await run('status');
      expect(out).toMatch(new RegExp(`sealed again since +${dayText(FIRST)}\n`));
      expect(await new PublicationViews(bench.database, place).revised()).toEqual([FIRST]);
    });

    it('says which setting is missing', async () => {
      const none = await bench.runWith({ settings: { CHAIN_ID: '5' } }, 'registry', 'status');
      expect(none.err).toContain('REGISTRY_ADDRESS must be set');
      const given = { CHAIN_ID: '5', REGISTRY_ADDRESS: `golf=${place.registry}` };
      const other = await bench.runWith({ settings: given }, 'registry', 'status');
      expect(other.err).toMatch(/names no registry of the stake set default/);
    });
  });
});
