/** The log source on a real chain, with nodes between them that give false answers, or fewer than it asks for. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { type Fault, FaultyHistory } from '#libs/testing/fake-node';
import { type RangeTooLargeError } from '../errors/rpc.errors.js';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { aSourceOf } from './log-bench.support.js';

describe('LogSource', () => {
  let history: FaultyHistory;

  beforeAll(async () => {
    history = await FaultyHistory.start();
  });

  afterAll(async () => {
    await history.stop();
  });

  const aSource = (
    faults: Parameters<typeof aSourceOf>[1],
    options?: Parameters<typeof aSourceOf>[2],
  ) => aSourceOf(history, faults, options);

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

  it('takes times from headers where logs carry none', async () => {
    const { source } = await aSource([{ kind: 'no-log-timestamps' }]);
    const sparse = await source.fetch(history.range, { headers: 'events' });
    expect(sparse.blocks).toEqual(history.truth);
    expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
  });

  it('does not believe the time of a log that its header denies, without reading all headers', async () => {
    const { source, pool } = await aSource([{ kind: 'wrong-log-timestamps' }, undefined]);
    const sparse = await source.fetch(history.range, { headers: 'events' });
    expect(sparse).toMatchObject({ endpoint: pool.endpoints[0], blocks: history.truth });
    const other = { avoid: [pool.endpoints[1] ?? ''] };
    const honest = await source.fetch(history.range, { avoid: [pool.endpoints[0] ?? ''] });
    expect(await source.compare(honest, other)).toMatchObject({ differing: [] });
  });

  it('puts logs in order, and takes only a log at the place of another one for doubled', async () => {
    const { source, pool } = await aSource([{ kind: 'unordered-logs' }, undefined]);
    const answer = await source.fetch(history.range);
    expect(answer).toMatchObject({ endpoint: pool.endpoints[0], blocks: history.truth });
  });

  it('tells the blocks in which two answers differ', async () => {
    const { source, pool } = await aSource([
      undefined,
      { kind: 'drop-one-log', block: history.busy },
    ]);
    const [honest, other] = pool.endpoints as [string, string];
    const answer = await source.fetch(history.range, { avoid: [other] });
    const same = await source.compare(answer, { avoid: [other] });
    expect(same).toMatchObject({ endpoint: honest, differing: [] });
    expect(await source.compare(answer, { avoid: [honest] })).toMatchObject({
      endpoint: other,
      differing: [history.busy],
    });
    const thin = await source.fetch(history.range, { avoid: [honest], headers: 'events' });
    expect((await source.compare(thin, { avoid: [other] })).differing).toEqual([history.busy]);
  });

  it('adds several contracts up and takes an empty range for what it is', async () => {
    const other = aWallet(99);
    const { source } = await aSource([undefined], {
      contracts: [other, history.chain.contracts.staking],
    });
    expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
    const empty = await source.fetch({ from: history.busy + 1n, to: history.busy + 1n });
    expect(empty).toMatchObject({ blocks: [], events: 0, head: { number: history.busy + 1n } });
    expect(empty.parentHash).toBe(empty.head.parentHash);
  });

  describe('moves on to the next endpoint from one', () => {
    it.each<[string, Fault]>([
      ['that answers [] though the headers are right', { kind: 'empty-logs' }],
      ['that lags behind', { kind: 'lagging', blocks: 2n }],
      ['that leaves out all logs of a block', { kind: 'drop-block-logs' }],
      ['that leaves out the only log of a block', { kind: 'drop-one-log' }],
      ['with logs of another fork', { kind: 'other-fork-logs' }],
      ['that sends a log twice', { kind: 'duplicate-log' }],
      ['with removed logs', { kind: 'removed-log' }],
      ['with a log of another block', { kind: 'log-out-of-range' }],
      [
        'with logs that are no list',
        { kind: 'result', method: 'eth_getLogs', result: { logs: [] } },
      ],
      ['with logs that are no logs', { kind: 'result', method: 'eth_getLogs', result: [null] }],
      [
        'with blocks that are no blocks',
        { kind: 'result', method: 'eth_getBlockByNumber', result: { number: '0x1' } },
      ],
    ])('%s', async (_case, fault) => {
      if (fault.kind === 'drop-one-log') fault = { ...fault, block: history.single };
      const { source, pool } = await aSource([fault, undefined]);
      const answer = await source.fetch(history.range);
      expect(answer.blocks).toEqual(history.truth);
      expect(answer.endpoint).toBe(pool.endpoints[1]);
      expect(history.nodes[0]?.requests[0]?.faults).toEqual([fault.kind]);
    });

    it('whose headers are not one chain', async () => {
      const { source, pool } = await aSource([
        { kind: 'broken-chain', block: history.single },
        undefined,
      ]);
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

  it.each<[string, Fault]>([
    ['all logs of a block', { kind: 'drop-block-logs' }],
    ['every log', { kind: 'empty-logs' }],
  ])('with one endpoint that leaves out %s, reads the receipts', async (_case, fault) => {
    const { source } = await aSource([fault]);
    expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
    expect(new Set(history.warnings.map(({ code }) => code))).toEqual(
      new Set(['RPC_LOGS_WITHHELD']),
    );
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

  it('sees one of several logs of a block missing where it counts them a second time', async () => {
    const { source } = await aSource([{ kind: 'drop-one-log', block: history.busy }]);
    for (const headers of ['all', 'events'] as const) {
      const answer = await source.fetch(history.range, { headers, recheckEventBlocks: true });
      expect(answer.blocks).toEqual(history.truth);
    }
  });

  it('cannot see one of several logs of a block missing by itself, but receipts show it', async () => {
    const { source } = await aSource([{ kind: 'drop-one-log', block: history.busy }]);
    expect((await source.fetch(history.range)).events).toBe(4);
    expect((await source.fetch(history.range, { by: 'receipts' })).blocks).toEqual(history.truth);
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

    it.each([
      [
        'the same range',
        (from: bigint, to: bigint) => `retry with the range ${String(from)}-${String(to)}`,
      ],
      ['a range elsewhere', () => 'Try with this block range [0x0, 0x1].'],
      ['nothing', () => 'block range is too wide'],
    ])('without believing a proposal of %s', async (_case, text) => {
      const error = (from: bigint, to: bigint): { code: number; message: string } => ({
        code: -32602,
        message: text(from, to),
      });
      expect(
        (await tooLarge({ kind: 'range-limit', blocks: 2, error })).proposedTo,
      ).toBeUndefined();
    });

    it.each<[string, Fault]>([
      ['silence', { kind: 'never-answers' }],
      ['a trickle', { kind: 'trickle' }],
      ['a body over the limit', { kind: 'oversized-body', bytes: 1_100_000 }],
      ['a body that breaks off', { kind: 'truncated-body' }],
      ['a closed connection', { kind: 'reset' }],
      ['a bad gateway', { kind: 'status', status: 502 }],
      [
        'an internal error',
        { kind: 'error', method: 'eth_getLogs', code: -32603, message: 'Internal error' },
      ],
    ])('after %s', async (_case, fault) => {
      expect((await tooLarge(fault)).proposedTo).toBeUndefined();
    });

    it('but not of a single block, and not of a node that is not there', async () => {
      const { source } = await aSource([{ kind: 'never-answers' }]);
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

  it('keeps the logs and the last header together where batches must be small', async () => {
    const { source } = await aSource([{ kind: 'batch-limit', limit: 2 }]);
    expect((await source.fetch(history.range)).blocks).toEqual(history.truth);
    const withLogs = history.nodes[0]?.requests
      .filter(({ calls }) => calls[0]?.method === 'eth_getLogs')
      .at(-1);
    expect(withLogs?.calls).toMatchObject([
      {},
      { params: [`0x${history.range.to.toString(16)}`, false] },
    ]);
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

  it('ends with the signal', async () => {
    const { source } = await aSource([{ kind: 'never-answers' }]);
    const signal = AbortSignal.timeout(50);
    await expect(source.fetch(history.range, { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});
