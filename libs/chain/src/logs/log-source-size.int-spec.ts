/** How the log source treats limits, and failures that a smaller range may cure. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fault, FaultyHistory } from '#libs/testing';
import { type RangeTooLargeError } from '../errors/rpc.errors.js';
import { parseStakeEvents } from '../events/parse-stake-events.js';
import { aSourceOf } from './log-bench.support.js';

describe('LogSource and size', () => {
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
