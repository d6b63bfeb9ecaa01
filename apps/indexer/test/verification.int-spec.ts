/**
 * Events that a provider leaves out, in each mode of STAKE_VERIFICATION: the index is right, or it is not ready and
 * reports why.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type VerificationMode } from '#libs/chain';
import { stake } from '#libs/testing/chain';
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

/** Matches every n-th request for logs, beginning with the first. */
function everyNth(n: number): (calls: readonly NodeCall[]) => boolean {
  let asked = 0;
  return (calls) => calls.some(({ method }) => method === 'eth_getLogs') && asked++ % n === 0;
}

/** The first block from `from` on with at least `count` events. */
async function blockWith(count: number, from: number): Promise<bigint> {
  const logs = await suite.chain.rpc.call<{ blockNumber: string }[]>('eth_getLogs', {
    address: suite.chain.contracts.staking,
    fromBlock: `0x${from.toString(16)}`,
    toBlock: 'latest',
  });
  const found = logs.find(
    ({ blockNumber }) => logs.filter((other) => other.blockNumber === blockNumber).length >= count,
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

  it.each<[string, () => Promise<Fault> | Fault]>([
    ['one log of every third answer', () => ({ kind: 'drop-one-log', when: everyNth(3) })],
    ['everything in every third answer', () => ({ kind: 'empty-logs', when: everyNth(3) })],
    [
      'a block’s logs, always',
      async () => ({ kind: 'drop-block-logs', block: await blockWith(2, 20) }),
    ],
    [
      'one of several logs, always',
      async () => ({ kind: 'drop-one-log', block: await blockWith(3, 20) }),
    ],
    [
      'one of several new logs',
      async () => ({ kind: 'drop-one-log', block: await blockWith(3, 60) }),
    ],
  ])('is right though an endpoint leaves out %s', async (_case, fault) => {
    const [node] = nodes as [FaultyNode];
    node.fault = await fault();
    const running = await start(mode, { overrides: { maxRangeBlocks: 12 } });
    await running.level();
    await suite.expectIndexed();
  });

  it('goes on past a bloom that speaks of events that are not there', async () => {
    for (const node of nodes) node.fault = { kind: 'full-blooms' };
    const running = await start(mode);
    await running.level();
    await suite.expectIndexed();
  });
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

  it.each<[string, () => Promise<Fault>]>([
    ['a block’s logs', async () => ({ kind: 'drop-block-logs', block: await blockWith(2, 60) })],
    ['one of several logs', async () => ({ kind: 'drop-one-log', block: await blockWith(3, 60) })],
  ])('is right above finality, though the endpoint leaves out %s', async (_case, fault) => {
    const [node] = nodes as [FaultyNode];
    node.fault = await fault();
    const running = await start('none', { verification: 'none' });
    await running.level();
    await suite.expectIndexed();
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

describe('a second provider', () => {
  it('that is away keeps what it should confirm from being written', async () => {
    const [, second] = nodes as [FaultyNode, FaultyNode];
    const running = await start('two', { urls: nodes.map(({ url }) => url) });
    await running.level();
    second.fault = { kind: 'status', status: 503 };
    const { head } = running.status;
    await suite.chain.player.play(history.blocks(3));
    await running.until('in trouble', ({ trouble }) => trouble !== undefined);
    expect(running.status.head).toEqual(head);
    second.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('that is a host of the same domain is none', async () => {
    const started = suite.start({ urls: [suite.chain.rpc.url], verification: 'two' });
    await expect((await started).running).rejects.toThrow(/endpoints of one provider only/);
  });
});

describe('one wallet’s event left out by the only endpoint, receipts too', () => {
  it('is reported with wallet, block and both figures, and the index is never ready', async () => {
    const [node] = nodes as [FaultyNode];
    const block = await blockWith(3, 20);
    node.fault = { kind: 'drop-one-log', block, receiptsToo: true };
    const running = await start('wallets');
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.synced).toBe(false);
    expect(running.status.trouble).toMatch(
      /At block \d+ wallet 0x[0-9a-f]{40} has \d+ in the index but \d+ in the contract/,
    );
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('is reported where a balance would fall below zero, and read again once the endpoint is mended', async () => {
    const [node] = nodes as [FaultyNode];
    const isOfFinal = ([call]: readonly NodeCall[]): boolean => {
      const filter = call?.method === 'eth_getLogs' ? (call.params[0] as LogRange) : undefined;
      return Number(filter?.fromBlock) <= BLOCKS + 3 - 40;
    };
    node.fault = { kind: 'empty-logs', when: isOfFinal };
    const running = await start('wallets');
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/takes \d+ from wallet 0x[0-9a-f]{40}, which holds 0/);
    node.fault = undefined;
    await running.level();
    await suite.expectIndexed();
  });

  it('is mended where the endpoint has no state of past blocks and answers in full later', async () => {
    const [node] = nodes as [FaultyNode];
    const block = await blockWith(3, 20);
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
