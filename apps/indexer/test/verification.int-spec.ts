/**
 * Events that a provider leaves out or alters, in each mode of STAKE_VERIFICATION: the index is right, or it is not ready
 * and reports why. Providers that err now and then, lag behind or are away are in test/simulation; habits of real ones in
 * the folder `field`; the faults of a single answer in libs/chain.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type VerificationMode } from '#libs/chain';
import { stake, withdraw } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import {
  type Fault,
  type FaultyNode,
  type NodeCall,
  startFaultyNode,
} from '#libs/testing/fake-node';
import { type IndexerUnderTest, type IndexerUnderTestOptions } from './harness.js';
import { begunHistory, type HistoryMaker } from './history.js';
import { IndexerSuite, START } from './suite.js';

const BLOCKS = 80;
/** Half of the history is final. */
const FINALITY = 'depth:40';

const begun = () => begunHistory(23, START, BLOCKS);
const suite = new IndexerSuite(({ player }) => player.play(begun().blocks));

let nodes: FaultyNode[];
let history: HistoryMaker;

beforeEach(async () => {
  nodes = await Promise.all([1, 2].map(() => startFaultyNode({ upstream: suite.chain.rpc.url })));
  ({ history } = begun());
});

afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
});

const VIEWS: Record<VerificationMode, { totalView?: []; balanceView?: [] }> = {
  total: {},
  two: { totalView: [], balanceView: [] },
  wallets: { totalView: [] },
  none: { totalView: [], balanceView: [] },
};

function start(
  mode: VerificationMode,
  options: Partial<IndexerUnderTestOptions> = {},
): Promise<IndexerUnderTest> {
  const urls = nodes.slice(0, mode === 'two' ? 2 : 1).map(({ url }) => url);
  return suite.start({ urls, finality: FINALITY, timeoutMs: 1_000, ...VIEWS[mode], ...options });
}

/** The first block from `from` on with at least three events. */
async function blockWith(from: number): Promise<bigint> {
  const logs = await suite.chain.rpc.call<{ blockNumber: string }[]>('eth_getLogs', {
    address: suite.chain.contracts.staking,
    fromBlock: `0x${from.toString(16)}`,
    toBlock: 'latest',
  });
  const found = logs.find(
    ({ blockNumber }) => logs.filter((other) => other.blockNumber === blockNumber).length >= 3,
  );
  return BigInt(found?.blockNumber ?? 0);
}

interface LogRange {
  readonly fromBlock?: string;
}

const MODES = ['total', 'two', 'wallets'] as const;

describe.each(MODES)('STAKE_VERIFICATION=%s', (mode) => {
  it('is what auto comes to where nothing better can be had, and is told', async () => {
    const running = await start(mode);
    await running.level();
    expect(running.status.verification).toMatchObject({ mode });
    expect(running.log).toContainEqual(
      expect.objectContaining({ msg: `Events are verified by: ${mode}`, mode }),
    );
    await suite.expectIndexed();
    const head = running.status.head?.number;
    const verified = mode === 'wallets' ? running.status.finalised?.number : head;
    expect(running.status.verifiedNumber).toBe(verified);
  });
});

// The same in the modes total and two: test/simulation/core.
it.each([
  ['logs', 20],
  ['new logs', 60],
] as const)(
  'where the wallets decide, the index is right though an endpoint leaves out one of several %s',
  async (_case, from) => {
    const [node] = nodes as [FaultyNode];
    node.fault = { kind: 'drop-one-log', block: await blockWith(from) };
    const running = await start('wallets', { overrides: { maxRangeBlocks: 12 } });
    await running.level();
    await suite.expectIndexed();
  },
);

it.each([
  ['missing', 'drop-one-log'],
  ['altered', 'altered-amount'],
] as const)('an event that only the total shows to be %s is mended, and told', async (_, kind) => {
  const [node] = nodes as [FaultyNode];
  node.fault = { kind, block: await blockWith(20) };
  const running = await start('total');
  await running.level();
  await suite.expectIndexed();
  expect(running.log.map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('An endpoint left out or altered events'),
  );
});

describe('STAKE_VERIFICATION=none', () => {
  it('is never what auto comes to: the start is refused, with the remedies', async () => {
    const running = await start('none', { verification: 'auto' });
    await expect(running.running).rejects.toMatchObject({
      code: 'VERIFICATION_IMPOSSIBLE',
      retryable: false,
      message: expect.stringMatching(
        /RPC_URLS, .* totalView or balanceView .* STAKE_VERIFICATION=none/,
      ),
    });
    expect(await suite.tables()).toEqual({ changes: [], days: [], totals: [] });
  });

  it('by name is told, and no block is ever called verified', async () => {
    const running = await start('none', { verification: 'none' });
    await running.level();
    await suite.expectIndexed();
    await suite.chain.player.play(history.blocks(50));
    await running.level();
    await suite.expectIndexed();
    expect(running.status.verification).toMatchObject({
      mode: 'none',
      cannotFind: expect.stringContaining('no day is sealed or published'),
    });
    expect(running.log).toContainEqual(
      expect.objectContaining({
        ...{ level: 'warn', msg: 'Events are verified by: none', mode: 'none' },
      }),
    );
    expect(running.status.verifiedNumber).toBeUndefined();
  });

  describe('takes final blocks as the endpoint gives them', () => {
    beforeEach(async () => {
      const [node] = nodes as [FaultyNode];
      const { seconds } = history.save();
      await suite.chain.player.play([{ seconds, transactions: [stake(aWallet(0x77), 5n)] }]);
      node.fault = { kind: 'drop-block-logs', block: await suite.chain.player.head() };
      await suite.chain.player.play(history.blocks(50));
      const running = await start('none', { verification: 'none' });
      await running.level();
      await expect(suite.expectIndexed()).rejects.toThrow();
      await running.stop();
      node.fault = undefined;
    });

    it.each(['two', 'wallets', 'total'] as const)('until %s vouches for them', async (mode) => {
      await suite.chain.player.play(history.blocks(1));
      const running = await start(mode);
      await running.until('vouched for', ({ verifiedNumber, head, finalised }) => {
        const last = mode === 'wallets' ? finalised : head;
        return verifiedNumber !== undefined && verifiedNumber === last?.number;
      });
      await running.level();
      await suite.expectIndexed();
    });
  });
});

describe('one wallet’s event left out by the only endpoint, receipts too', () => {
  it.each([
    ['total', /At block \d+ the indexed balances add up to \d+ but the contract's total is \d+/],
    ['wallets', /At block \d+ wallet 0x[0-9a-f]{40} has \d+ in the index but \d+ in the contract/],
  ] as const)(
    'is reported, and the index is never ready until the endpoint is mended: %s',
    async (mode, text) => {
      const [node] = nodes as [FaultyNode];
      node.fault = { kind: 'drop-one-log', block: await blockWith(20), receiptsToo: true };
      const running = await start(mode);
      await running.until('halted', ({ phase }) => phase === 'halted');
      expect(running.status.synced).toBe(false);
      expect(running.status.notReady(Date.now(), 120)).toMatch(
        new RegExp(`halted: ${text.source}`),
      );
      node.fault = undefined;
      await running.level();
      await suite.expectIndexed();
    },
  );

  it('is reported where a balance would fall below zero, and read again once the endpoint is mended', async () => {
    const [node] = nodes as [FaultyNode];
    const isOfFinal = ([call]: readonly NodeCall[]): boolean => {
      const filter = call?.method === 'eth_getLogs' ? (call.params[0] as LogRange) : undefined;
      return Number(filter?.fromBlock) <= BLOCKS + 3 - 40;
    };
    const known = [await hashOf('latest')];
    node.fault = [
      { kind: 'empty-logs', when: isOfFinal },
      { kind: 'pruned', when: ([call]) => isAtOtherThan(known, call) },
    ];
    const running = await start('wallets');
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/takes \d+ from wallet 0x[0-9a-f]{40}, which holds 0/);
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('is mended where the endpoint has no state of past blocks and answers in full later', async () => {
    const [node] = nodes as [FaultyNode];
    const block = await blockWith(20);
    const known = await Promise.all(['latest', `0x${(BLOCKS + 3 - 40).toString(16)}`].map(hashOf));
    const isPast = ([call]: readonly NodeCall[]): boolean => isAtOtherThan(known, call);
    node.fault = [
      { kind: 'drop-one-log', block, times: 2 },
      { kind: 'pruned', when: isPast },
    ];
    const running = await start('wallets');
    await running.level();
    await suite.expectIndexed();
    expect(running.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('A wallet’s balance is not what the contract says'),
    );
  });

  it('shows in the total of recent blocks where it is all that a wallet ever did', async () => {
    const [node] = nodes as [FaultyNode];
    const { player } = suite.chain;
    const { seconds } = history.save();
    await player.play([{ seconds, transactions: [stake(aWallet(0x77), 5n)] }]);
    const block = await player.head();
    await player.play(history.blocks(50));
    const newest = await hashOf('latest');
    const finalised = await hashOf(`0x${(BLOCKS + 3 + 51 - 40).toString(16)}`);
    node.fault = [
      { kind: 'drop-block-logs', block },
      { kind: 'pruned', when: ([call]) => isAtOtherThan([newest, finalised], call) },
    ];
    const running = await suite.start({ urls: [node.url], finality: FINALITY });
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.verification).toMatchObject({ mode: 'wallets' });
    expect(running.status.synced).toBe(false);
    expect(running.status.trouble).toMatch(
      /the indexed balances add up to \d+ but the contract's total is \d+/,
    );
  });

  function isAtOtherThan(known: readonly unknown[], call: NodeCall | undefined): boolean {
    const when = call?.params[1] as { blockHash?: string } | string | undefined;
    return typeof when === 'object' && !known.includes(when.blockHash);
  }

  async function hashOf(block: string): Promise<string | undefined> {
    const { rpc } = suite.chain;
    return (await rpc.call<{ hash: string }>('eth_getBlockByNumber', block, false)).hash;
  }
});

describe('a wallet that takes out all that it has, where the wallets decide', () => {
  const WALLET = aWallet(0x77);
  let staked: bigint;

  beforeEach(async () => {
    const { player } = suite.chain;
    const { seconds } = history.save();
    await player.play([{ seconds, transactions: [stake(WALLET, 5n)] }]);
    staked = await player.head();
    await player.play([
      { seconds, transactions: [] },
      { seconds, transactions: [withdraw(WALLET, 5n)] },
    ]);
    await player.play(history.blocks(50));
  });

  const missing = (): Fault => ({ kind: 'drop-block-logs', block: staked });
  const ONE_BLOCK = { overrides: { maxRangeBlocks: 1 } };

  it.each([
    ['is read from the receipts if the logs lack its stake', missing, {}],
    ['is so too where the stake was written before', missing, ONE_BLOCK],
    [
      'is so too where it takes more by the logs',
      (): Fault => ({ kind: 'altered-amount', block: staked + 2n }),
      {},
    ],
  ] as const)('%s', async (_, fault, options) => {
    const [node] = nodes as [FaultyNode];
    node.fault = fault();
    const running = await start('wallets', options);
    await running.level();
    await suite.expectIndexed();
  });

  it('is reported with what the contract says, where the receipts lack its stake too', async () => {
    const [node] = nodes as [FaultyNode];
    node.fault = { kind: 'drop-block-logs', block: staked, receiptsToo: true };
    const running = await start('wallets');
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toContain(
      `wallet ${WALLET} has 0 in the index but 5 in the contract`,
    );
    expect(running.status.synced).toBe(false);
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });
});

describe('an event that does not show in the sum', () => {
  /** The token as its own staking contract: a transfer moves stake without a change of the total. */
  async function withTransfers(receiptsToo: boolean): Promise<IndexerUnderTest> {
    const [node] = nodes as [FaultyNode];
    const { player, contracts } = suite.chain;
    await player.fund([aWallet(0xa), aWallet(0xb), aWallet(0xc)], 500n, history.save().seconds);
    node.fault = { kind: 'drop-one-log', block: await player.head(), receiptsToo };
    const token = { contracts: [contracts.token], events: 'transfer' } as const;
    return start('total', { ...token, finality: 'depth:100', overrides: { firstBlock: 1n } });
  }

  it('is found in the wallets and mended before the index is ready', async () => {
    const running = await withTransfers(false);
    await running.level();
    const { changes } = await suite.tables();
    for (const wallet of [aWallet(0xa), aWallet(0xb), aWallet(0xc)])
      expect(changes).toContainEqual(expect.stringMatching(`^${wallet.slice(2)} .* 500$`));
    expect(running.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringContaining('A wallet’s balance is not what the contract says'),
    );
  });

  it('keeps the index from being ready where the receipts lack it too', async () => {
    const running = await withTransfers(true);
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.synced).toBe(false);
    expect(running.status.notReady(Date.now(), 1e12)).toBeDefined();
  });
});

it('events before the first block of the index show in the total, which names the settings', async () => {
  const running = await start('total', { overrides: { firstBlock: await blockWith(20) } });
  await running.until('halted', ({ phase }) => phase === 'halted');
  expect(running.status.trouble).toMatch(/check STAKE_EVENTS and STAKE_START_BLOCK/);
  expect(await suite.tables()).toEqual({ changes: [], days: [], totals: [] });
});
