import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadStakeEvents } from '#libs/chain';
import { IndexStore } from '#libs/db';
import { type BlockHash } from '#libs/domain';
import {
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type FaultyNode,
  stake,
  startChain,
  startFaultyNode,
  type TestChain,
  type TestDatabase,
} from '#libs/testing';
import { runCli } from './cli.js';
import { type PlanJson } from './testing/plan-json.support-spec.js';
import { stakesOf } from './testing/stakes-of.support-spec.js';

const START = 1_760_000_000;
/** Number of blocks with an event; `EMPTY` empty blocks follow each of them. */
const BUSY = 20;
const EMPTY = 99;
const FINALITY = 100n;
/** Progress lines, which appear on a slow machine. */
const STEPS = /^(?:(?:Asking|Reading) .*…\n)*$/;
const URL_KEY = 'v2-key-never-to-be-seen';

let chain: TestChain;
let node: FaultyNode;
let latest: bigint;
let printed = '';

beforeAll(async () => {
  chain = await startChain({ deployedSeconds: START });
  for (let block = 0; block < BUSY; block++) {
    await chain.player.block(START + 12 + block * 1_200, stake(aWallet(0x100 + block), 5n));
    await chain.rpc.call('anvil_mine', `0x${EMPTY.toString(16)}`, '0xc');
  }
  latest = BigInt(await chain.rpc.call<string>('eth_blockNumber'));
});
beforeEach(async () => {
  node = await startFaultyNode({ upstream: chain.url });
});
afterEach(() => node.close());
afterAll(async () => {
  await chain.stop();
  expect(printed).not.toContain(URL_KEY);
});

function settings(): Record<string, string> {
  return {
    RPC_URLS: `${node.url}/?key=${URL_KEY}`,
    CHAIN_ID: String(chain.chainId),
    FINALITY: `depth:${FINALITY}`,
    STAKE_CONTRACT: chain.contracts.staking,
    STAKE_START_BLOCK: chain.contracts.startBlock.toString(),
    MAX_RANGE_BLOCKS: '200',
  };
}

async function plan(changes: Record<string, string | undefined> = {}, ...argv: string[]) {
  let [out, err] = ['', ''];
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  const code = await runCli(['plan-sync', ...argv], terminal, () => ({
    ...settings(),
    ...changes,
  }));
  printed += out + err;
  return { code, out, err };
}

async function planned(changes: Record<string, string | undefined> = {}): Promise<PlanJson> {
  const { code, out, err } = await plan(changes, '--json');
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(STEPS) });
  return JSON.parse(out) as PlanJson;
}

const NO_TOTAL = { STAKE_TOTAL_VIEW: 'none' };
const NO_VIEWS = { ...NO_TOTAL, STAKE_BALANCE_VIEW: 'none' };
const missing = (): number => Number(latest - chain.contracts.startBlock) + 1;

describe('plan-sync', () => {
  it('prints blocks, verification, calls, units and time', async () => {
    const { code, out, err } = await plan();
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(STEPS) });
    const blocks = missing().toLocaleString('en-US');
    for (const line of [
      new RegExp(
        `^chain +${chain.chainId}, newest block ${latest}, newest final ${latest - FINALITY}$`,
        'm',
      ),
      /^index +counted from its first block, \d+$/m,
      new RegExp(`^to read +${blocks} blocks: [\\d,]+ final, 100 above$`, 'm'),
      /^verification +total\. The contract tells its total, at past blocks too\.$/m,
      /^cannot find +With one provider: a missing transfer/m,
      /^ranges +200 blocks at once \(8 places asked\), as MAX_RANGE_BLOCKS allows$/m,
      /^events +\d+ of \d+ wallets in \d+ of the 1,600 blocks looked at: \d+ blocks with events in 10,000$/m,
      /^METHOD +CALLS +COMPUTE UNITS +ALCHEMY +INFURA +QUICKNODE$/m,
      /^eth_getLogs +11 +825 +660 +2,805 +220$/m,
      /^all( +[\d,]+){5}$/m,
      /^time at the rate seen \(\d+ ms a range, 16 at once\) +\S+/m,
      /^time at 300 compute units a second +\d+s$/m,
      /^time at 1,000 compute units a second +\d+s$/m,
    ]) {
      expect(out).toMatch(line);
    }
    expect(out).not.toContain('ALERT');
  });

  it('asks few questions', async () => {
    await plan();
    expect(node.requests.length).toBeLessThan(30);
    expect(node.count('eth_getLogs')).toBe(8);
  });

  it.each([
    ['total', {}, { eth_call: 11 }],
    ['wallets', NO_TOTAL, { eth_getLogs: 21 }],
    ['headers', NO_VIEWS, { eth_getLogs: 11, eth_call: 0 }],
  ])('counts for the mode that is in force: %s', async (mode, changes, calls) => {
    const found = await planned(changes);
    expect(found).toMatchObject({ verification: { mode }, calls, tipBlocks: 100 });
    expect(found.finalBlocks + found.tipBlocks).toBe(missing());
    const headers = found.calls['eth_getBlockByNumber'];
    if (mode === 'headers') expect(headers).toBe(missing());
    else expect(headers).toBeLessThan(missing() / 5);
  });

  it('knows the wallets where all of the history was looked at', async () => {
    const { calls, survey } = await planned({ ...NO_TOTAL, MAX_RANGE_BLOCKS: '10000' });
    expect(survey).toMatchObject({ blocks: missing(), events: BUSY, wallets: BUSY });
    // One call for each wallet with an event in a final block, since this chain has no Multicall3.
    expect(calls['eth_call']).toBe(BUSY - 1);
  });

  it('says loudly what every header costs, and what would be cheaper', async () => {
    const { out } = await plan(NO_VIEWS);
    expect(out).toMatch(
      /^ALERT: every header .* for [\d,]+ compute units\. A second provider in RPC_URLS makes it [\d,]+, a total .* [\d,]+\.$/m,
    );
  });

  it.each([
    ['that it names', 64, (from: bigint) => ({ code: -32602, message: proposal(from, 64n) })],
    ['that it does not name', 50, undefined],
  ])('finds the limit of a provider %s', async (_, limit, error) => {
    node.fault = { kind: 'range-limit', blocks: 64, ...(error && { error }) };
    const { rangeBlocks, calls } = await planned();
    expect(rangeBlocks).toBe(limit);
    expect(calls['eth_getLogs']).toBeGreaterThanOrEqual(Math.ceil(missing() / limit));
    expect(node.count('eth_getLogs')).toBeLessThanOrEqual(20);
    expect((await plan()).out).toMatch(
      /^ranges +\d\d blocks at once \(8 places asked\), as more was refused: /m,
    );
  });

  it.each([
    ['first', (capped: string, other: string) => `${capped},${other}`, 1],
    ['second', (capped: string, other: string) => `${other},${capped}`, 2],
  ])('takes the smallest range of two providers, the %s is strict', async (_, urls, place) => {
    node.fault = { kind: 'range-limit', blocks: 10 };
    const changes = { ...NO_TOTAL, RPC_URLS: urls(node.url, chain.url) };
    const found = await planned(changes);
    expect(found.verification.mode).toBe('two');
    expect(found.rangeBlocks).toBeLessThanOrEqual(10);
    expect(found.calls['eth_getLogs']).toBeGreaterThanOrEqual((2 * missing()) / 10);
    const { out } = await plan(changes);
    const host = new URL(node.url).host.replaceAll('.', String.raw`\.`);
    expect(out).toMatch(new RegExp(`^ranges .* as more was refused: ${host}#${place}:`, 'm'));
  });

  it('looks at more places where the provider gives small ranges', async () => {
    node.fault = { kind: 'range-limit', blocks: 1 };
    expect((await planned()).survey).toMatchObject({ blocks: 40 });
  });

  it('counts no block or event twice where ranges overlap', async () => {
    const { survey } = await planned({ MAX_RANGE_BLOCKS: '1500' });
    expect(survey).toMatchObject({ blocks: missing(), events: BUSY, counted: BUSY });
  });

  it('says where the conditions of STAKE_EVENTS count no event', async () => {
    const changes = { STAKE_EVENTS: await stakesOf(7n), MAX_RANGE_BLOCKS: '10000' };
    const { out } = await plan({ ...changes, STAKE_VERIFICATION: 'headers' });
    expect(out).toMatch(/^events +20, 20 of them not counted by STAKE_EVENTS, of 0 wallets/m);
    expect(out).toMatch(/^ +WARNING: STAKE_EVENTS counts none of them\./m);
  });

  it.each(['rps=25', 'cups=2000'])('keeps to the budget %s', async (budget) => {
    const { calls, units, ...found } = await planned({ RPC_URLS: `${node.url}/#${budget}` });
    const all = Object.values(calls).reduce((sum, count) => sum + count, 0);
    const seconds = budget === 'rps=25' ? all / 25 : (units['compute units'] ?? 0) / 2000;
    expect(found.isBoundByBudget).toBe(true);
    expect(found.secondsAtRateSeen).toBeCloseTo(seconds);
  });

  it('fails where no logs are given at all, with the reason', async () => {
    node.fault = { kind: 'no-method', method: 'eth_getLogs' };
    const { code, out, err } = await plan();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/eth_getLogs/);
  });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no contract', { STAKE_CONTRACT: undefined }, /^STAKE_CONTRACT is not set, and there is no/],
    ['no first block', { STAKE_START_BLOCK: undefined }, /^STAKE_START_BLOCK is not set/],
    ['a first block that is not there yet', { STAKE_START_BLOCK: '999999' }, /does not exist on/],
    ['another chain', { CHAIN_ID: '5' }, /CHAIN_MISMATCH|chain 5|CHAIN_ID/],
    ['a contract that is not there', { STAKE_CONTRACT: aWallet(0xf07) }, /\[NO_CONTRACT\]/],
    ['no such mode', { STAKE_VERIFICATION: 'luck' }, /STAKE_VERIFICATION must be auto, total, two/],
    ['a mode that cannot be had', { STAKE_VERIFICATION: 'two' }, /one provider only\. Add one/],
  ])('refuses %s', async (_, changes, reason) => {
    const { code, out, err } = await plan(changes);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(reason);
  });
});

describe('with an index', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    const { staking, token, startBlock } = chain.contracts;
    const store = new IndexStore(await test.open());
    const head = await chain.rpc.call<Record<'hash' | 'timestamp', string>>(
      'eth_getBlockByNumber',
      `0x${(latest - 300n).toString(16)}`,
      false,
    );
    await store.create(
      anInitialIndex({
        chainId: chain.chainId,
        stakeContract: staking,
        tokenContract: token,
        settings: {
          chainId: chain.chainId,
          stakeContracts: [staking],
          tokenContract: token,
          startBlock: startBlock.toString(),
          events: await loadStakeEvents('staked-withdrawn'),
        },
        head: {
          number: latest - 300n,
          hash: head.hash as BlockHash,
          timestampSeconds: Number(head.timestamp),
        },
      }),
    );
  });
  afterAll(() => test.drop());

  const BY_INDEX = { CHAIN_ID: undefined, STAKE_CONTRACT: undefined, STAKE_START_BLOCK: undefined };

  it('counts what is missing only, of the contracts that the index knows', async () => {
    const found = await planned({ ...BY_INDEX, DATABASE_URL: test.url });
    expect(found).toMatchObject({ finalBlocks: 200, tipBlocks: 100 });
    const { out } = await plan({ DATABASE_URL: test.url });
    expect(out).toMatch(/^index +from block \d+ to \d+; only what is missing is counted$/m);
  });

  it('counts all of it anew, where that is asked for', async () => {
    const { out } = await plan({ ...BY_INDEX, DATABASE_URL: test.url }, '--anew', '--json');
    const { finalBlocks, tipBlocks } = JSON.parse(out) as PlanJson;
    expect(finalBlocks + tipBlocks).toBe(missing());
  });

  it('refuses settings that are not those of the index', async () => {
    const { code, err } = await plan({ DATABASE_URL: test.url, STAKE_START_BLOCK: '1' });
    expect(code).toBe(1);
    expect(err).toMatch(/made with other settings: STAKE_START_BLOCK is 1; .*\[SETTINGS_CHANGED\]/);
  });

  it('takes a database without a schema for one without an index', async () => {
    const empty = await createTestDatabase('empty');
    const { finalBlocks, tipBlocks } = await planned({ DATABASE_URL: empty.url });
    await empty.drop();
    expect(finalBlocks + tipBlocks).toBe(missing());
  });

  it('has nothing to count where nothing is missing', async () => {
    const { out, code } = await plan({
      STAKE_START_BLOCK: (latest + 1n).toString(),
      STAKE_VERIFICATION: 'auto',
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^Nothing is missing: a sync has nothing to read\.$/m);
  });
});

/** The proposal of a smaller range in Alchemy's words. */
function proposal(from: bigint, blocks: bigint): string {
  const hex = (number: bigint): string => `0x${number.toString(16)}`;
  return `query returned more than 10000 results. Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + blocks - 1n)}]`;
}
