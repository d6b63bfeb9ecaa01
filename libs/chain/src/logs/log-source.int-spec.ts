/**
 * The log source on a real chain, with nodes between them that give false answers, or fewer than it asks for. Habits of
 * real nodes, and events that are left out, are in apps/indexer/test; nodes that lag or change forks in test/simulation.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BlockRef } from '#libs/domain';
import { type Fault, FaultyHistory } from '#libs/testing/fake-node';
import { type RangeTooLargeError } from '../rpc/rpc.errors.js';
import { ChainReader } from '../reader/chain-reader.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { LogSource, type LogSourceOptions } from './log-source.js';

let history: FaultyHistory;
beforeAll(async () => {
  history = await FaultyHistory.start();
});
afterAll(() => history.stop());

/** A log source with one endpoint for each of the faults; undefined: an endpoint without a fault. */
async function aSource(
  faults: readonly (Fault | readonly Fault[] | undefined)[],
  options: Partial<LogSourceOptions> = {},
): Promise<{ source: LogSource; pool: RpcPool }> {
  const pool = await history.pool(...faults);
  const source = new LogSource(pool, {
    contracts: [history.chain.contracts.staking],
    events: parseStakeEvents('staked-withdrawn'),
    ...options,
  });
  return { source, pool };
}

describe('LogSource', () => {
  it('reads events, times and linked headers in one request', async () => {
    const { source, pool } = await aSource([undefined]);
    const answer = await source.fetch(history.range);
    expect(answer).toMatchObject({ ...history.range, endpoint: pool.endpoints[0], events: 5 });
    expect(answer.blocks).toEqual(history.truth);
    expect(answer.headers.map(({ number }) => number)).toEqual(
      [0n, 1n, 2n, 3n, 4n, 5n].map((n) => history.busy + n),
    );
    expect(answer.parentHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(answer.head).toMatchObject({
      number: history.range.to,
      timestampSeconds: 1_700_000_050,
    });
    expect(answer.head.hash).toBe(answer.headers.at(-1)?.hash);
    expect(Object.keys(answer.head).sort()).toEqual([
      'hash',
      'number',
      'parentHash',
      'timestampSeconds',
    ]);
    expect(answer.bytes).toBeGreaterThan(5000);
    expect(history.nodes[0]?.requests).toHaveLength(1);
    expect(history.nodes[0]?.requests[0]?.calls.slice(0, 2)).toMatchObject([
      { method: 'eth_getLogs' },
      { method: 'eth_getBlockByNumber', params: [`0x${history.range.to.toString(16)}`, false] },
    ]);
  });

  it('reads the same from receipts, and with the headers of event blocks only', async () => {
    const { source } = await aSource([undefined]);
    const answer = await source.fetch(history.range, { by: 'receipts' });
    expect(answer.blocks).toEqual(history.truth);
    const sparse = await source.fetch(history.range, { headers: 'events' });
    expect(sparse.blocks).toEqual(history.truth);
    expect(sparse.headers.map(({ number }) => number)).toEqual([
      history.busy,
      history.single,
      history.range.to,
    ]);
    expect(sparse.parentHash).toBe(answer.parentHash);
    const sizes = history.nodes[0]?.requests.slice(-2).map(({ calls }) => calls.length);
    expect(sizes).toEqual([2, 2]);
  });

  describe('moves on to the next endpoint from one', () => {
    it.each<[string, Fault]>([
      ['that answers [] though the headers are right', { kind: 'empty-logs' }],
      ['that lags behind', { kind: 'lagging', blocks: 2n }],
      ['with logs of another fork', { kind: 'other-fork-logs' }],
      ['with a log of another block', { kind: 'log-out-of-range' }],
      ['with logs that are no logs', { kind: 'result', method: 'eth_getLogs', result: [null] }],
      [
        'with blocks that are no blocks',
        { kind: 'result', method: 'eth_getBlockByNumber', result: { number: '0x1' } },
      ],
    ])('%s', async (_case, fault) => {
      const { source, pool } = await aSource([fault, undefined]);
      const answer = await source.fetch(history.range);
      expect(answer.blocks).toEqual(history.truth);
      expect(answer.endpoint).toBe(pool.endpoints[1]);
      expect(history.nodes[0]?.requests[0]?.faults).toEqual([fault.kind]);
    });

    it('whose headers are not one chain', async () => {
      const broken: Fault = { kind: 'broken-chain', block: history.single };
      const { source, pool } = await aSource([broken, undefined]);
      expect((await source.fetch(history.range)).endpoint).toBe(pool.endpoints[1]);
    });
  });

  it('says who leaves out logs, and stays away from them for a while', async () => {
    const { source, pool } = await aSource([
      { kind: 'drop-block-logs', block: history.single },
      undefined,
    ]);
    await source.fetch(history.range);
    expect(history.warnings).toEqual([
      {
        endpoint: pool.endpoints[0],
        code: 'RPC_LOGS_WITHHELD',
        message: `${String(pool.endpoints[0])}: left out logs of block ${String(history.single)}`,
      },
    ]);
    const asked = history.nodes[0]?.requests.length;
    history.clock.advance(59_000);
    await source.fetch(history.range);
    expect(history.nodes[0]?.requests.length).toBe(asked);
  });

  it('asks an endpoint again that left out logs once, and reads no receipts then', async () => {
    const { source } = await aSource([{ kind: 'drop-block-logs', times: 1 }]);
    expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
    const asked = history.nodes[0]?.requests.flatMap(({ calls }) => calls) ?? [];
    const receipts = asked.filter(({ method }) => method === 'eth_getBlockReceipts');
    expect(receipts.length).toBeLessThanOrEqual(1);
  });

  it('takes an event that only a bloom speaks of for absent, and says so', async () => {
    const fault: Fault = { kind: 'drop-block-logs', block: history.single, receiptsToo: true };
    const { source } = await aSource([fault]);
    const answer = await source.fetch(history.range);
    expect(answer.blocks).toEqual(
      history.truth.filter(({ blockNumber }) => blockNumber !== history.single),
    );
    expect(history.warnings).toMatchObject([
      {
        code: 'BLOOM_UNEXPLAINED',
        message: expect.stringContaining(`block ${String(history.single)}`),
      },
    ]);
  });

  describe('on a chain without blooms', () => {
    it('believes logs, and says once that it has less to go by', async () => {
      const { source } = await aSource([{ kind: 'zero-blooms' }]);
      expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
      await source.fetch(history.range);
      expect(history.warnings.map(({ code }) => code)).toEqual(['BLOOMS_ABSENT']);
    });

    it('asks a second endpoint before it believes that a range is empty', async () => {
      const zero: Fault = { kind: 'zero-blooms' };
      const { source, pool } = await aSource([[zero, { kind: 'empty-logs' }], zero]);
      const answer = await source.fetch(history.range);
      expect(answer.blocks).toEqual(history.truth);
      expect(answer.endpoint).toBe(pool.endpoints[1]);
      expect(history.warnings[0]).toMatchObject({
        code: 'RPC_LOGS_WITHHELD',
        endpoint: pool.endpoints[0],
      });
    });

    it('goes on with a warning where the second cannot say', async () => {
      const zero: Fault = { kind: 'zero-blooms' };
      const { source } = await aSource([
        [zero, { kind: 'empty-logs' }],
        { kind: 'status', status: 500 },
      ]);
      expect((await source.fetch(history.range)).blocks).toEqual([]);
      expect(history.warnings).toMatchObject([{ code: 'EMPTY_RANGE_UNCONFIRMED' }]);
    });
  });

  describe('asks for a smaller range', () => {
    const tooLarge = async (...faults: Fault[]): Promise<RangeTooLargeError> => {
      const { source } = await aSource([faults]);
      const error: unknown = await source.fetch(history.range).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'RPC_RANGE_TOO_LARGE' });
      return error as RangeTooLargeError;
    };

    it('as the node proposes', async () => {
      const error = (from: bigint): { code: number; message: string } => ({
        code: -32602,
        message: `Log response size exceeded. this block range should work: [0x${from.toString(16)}, 0x${(from + 1n).toString(16)}]`,
      });
      expect(await tooLarge({ kind: 'range-limit', blocks: 2, error })).toMatchObject({
        proposedTo: history.busy + 1n,
      });
    });

    it('but not of a single block, and not of a node that is not there', async () => {
      const { source } = await aSource([{ kind: 'reset' }]);
      await expect(source.fetch({ from: history.busy, to: history.busy })).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      const gone = await aSource([undefined]);
      await history.nodes[0]?.close();
      await expect(gone.source.fetch(history.range)).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
    });
  });

  it('stops for good where the settings describe another event', async () => {
    const event = 'event Staked(address indexed user, uint256 indexed amount)';
    const events = parseStakeEvents(
      JSON.stringify([{ event, account: 'user', amount: 'amount', effect: 'increase' }]),
    );
    const { source } = await aSource([undefined, undefined], { events });
    await expect(source.fetch(history.range)).rejects.toMatchObject({
      code: 'STAKE_EVENT_MISMATCH',
      retryable: false,
    });
  });
});

/** What is new at the chain's tip, read in one request. */
describe('the tip of the chain', () => {
  async function readTip(
    back: bigint,
    ...faults: (Fault | undefined)[]
  ): Promise<{ tip: Awaited<ReturnType<LogSource['tip']>>; head: BlockRef }> {
    const pool = await history.pool(...(faults.length === 0 ? [undefined] : faults));
    const contracts = [history.chain.contracts.staking];
    const reader = new ChainReader(pool, { contracts });
    const source = new LogSource(pool, { contracts, events: parseStakeEvents('staked-withdrawn') });
    const [head] = await reader.headers([history.range.to - back]);
    if (!head) throw new Error('no such block');
    const total = await reader.totalCalls();
    for (const node of history.nodes) node.requests.length = 0;
    return { tip: await source.tip({ head, tag: undefined, total }), head };
  }

  const sizes = (): number[] | undefined =>
    history.nodes[0]?.requests.map(({ calls }) => calls.length);

  it('is one more for the headers where several are', async () => {
    const { tip, head } = await readTip(5n);
    expect(tip.answer).toMatchObject({ from: head.number + 1n, parentHash: head.hash });
    expect(tip.answer?.blocks).toEqual(
      history.truth.filter(({ blockNumber }) => blockNumber > head.number),
    );
    expect(tip.answer?.headers).toHaveLength(5);
    expect(sizes()).toEqual([3, 4]);
  });

  it('is nothing where nothing is new, though a node refuses logs of blocks to come', async () => {
    const { tip } = await readTip(0n, {
      kind: 'error',
      method: 'eth_getLogs',
      code: -32000,
      message: 'invalid block range params',
    });
    expect(tip.answer).toBeUndefined();
  });

  it('is not believed where a bloom speaks of an event that the logs lack', async () => {
    let hasLied = false;
    // The fault is at the node that is asked first, whichever it is: a node that was slow before is asked second.
    const fault: Fault = {
      kind: 'lie',
      change: ({ method }) => {
        if (hasLied || method !== 'eth_getLogs') return undefined;
        hasLied = true;
        return [];
      },
    };
    const { tip } = await readTip(1n, fault, fault);
    expect(tip.answer?.blocks).toEqual(
      history.truth.filter(({ blockNumber }) => blockNumber === history.range.to),
    );
    expect(history.warnings).toContainEqual(expect.objectContaining({ code: 'RPC_LOGS_WITHHELD' }));
  });

  it('fails where a lagging node lacks a block in between', async () => {
    await expect(readTip(5n, { kind: 'broken-chain', block: history.single })).rejects.toThrow(
      /does not follow the block before it/,
    );
  });
});
