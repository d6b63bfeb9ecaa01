import { describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { LogReader } from './log-reader.js';
import { type LogAnswer, type LogRange, NodeClient } from './node-client.js';
import { type RawLog } from './effect-decoder.js';

const ADDRESS = `0x${'a'.repeat(40)}` as Address;
const TOPIC = `0x${'1'.repeat(64)}` as const;
const RANGE: LogRange = { addresses: [ADDRESS], topics: [TOPIC], from: 5n, to: 300_000n };

const logAt = (number: bigint, more: Partial<RawLog> = {}): RawLog => ({
  ...{ address: ADDRESS as RawLog['address'], topics: [TOPIC], data: '0x' },
  blockNumber: `0x${number.toString(16)}`,
  ...more,
});

async function read(
  answer: (range: LogRange, request: number) => LogAnswer,
  range: LogRange = RANGE,
) {
  const sizes: bigint[] = [];
  const waits: number[] = [];
  let next = range.from;
  const node = new NodeClient('https://node.example/v2/key');
  node.logs = (asked: LogRange): Promise<LogAnswer> => {
    sizes.push(asked.to - asked.from + 1n);
    return Promise.resolve(answer(asked, sizes.length));
  };
  const wait = (attempt: number): Promise<void> => Promise.resolve(void waits.push(attempt));
  const logs: bigint[] = [];
  for await (const part of new LogReader(node, wait).parts(range)) {
    logs.push(...part.logs.map(({ blockNumber }) => BigInt(blockNumber)));
    next = part.to + 1n;
  }
  return { sizes, waits, logs, next };
}

const refuseAbove =
  (most: bigint) =>
  ({ from, to }: LogRange): LogAnswer =>
    to - from >= most ? { failure: 'too many', isTransient: false } : { logs: [logAt(from)] };

describe('LogReader', () => {
  it('reads each block once, in larger parts as long as they are answered', async () => {
    const { sizes, next, waits } = await read(() => ({ logs: [] }));
    expect(sizes).toEqual([10_000n, 20_000n, 40_000n, 80_000n, 149_996n]);
    expect(next).toBe(300_001n);
    expect(waits).toEqual([]);
  });

  it.each([1n, 3n, 999n, 10_000n, 25_000n])(
    'comes to the end with %s blocks at most',
    async (most) => {
      const to = most < 100n ? 400n : RANGE.to;
      const { next, logs, sizes, waits } = await read(refuseAbove(most), { ...RANGE, to });
      expect(next).toBe(to + 1n);
      expect(logs).toEqual([...new Set(logs)].sort((a, b) => (a < b ? -1 : 1)));
      // Most requests are answered, since a refused size is not tried again at once.
      expect(sizes.filter((size) => size > most).length).toBeLessThan(20 + sizes.length / 4);
      expect(waits).toEqual([]);
    },
  );

  it('waits for a node that asks for patience, with the same part', async () => {
    const busy: LogAnswer = { failure: 'slow down', isTransient: true };
    const { sizes, waits } = await read((_, request) => (request < 4 ? busy : { logs: [] }));
    expect(sizes.slice(0, 4)).toEqual([10_000n, 10_000n, 10_000n, 10_000n]);
    expect(waits).toEqual([1, 2, 3]);
  });

  it.each<[string, LogAnswer, bigint]>([
    ['a block that is refused', { failure: 'no such method', isTransient: false }, 1n],
    ['a node that is gone', { failure: 'refused', isTransient: true }, 10_000n],
  ])('gives up on %s', async (_, answer, size) => {
    const asked = read(() => answer);
    const to = size === 1n ? 5n : 10_004n;
    await expect(asked).rejects.toThrow(
      `The node at node.example does not tell the logs of blocks 5 to ${to}: ${'failure' in answer ? answer.failure : ''}`,
    );
  });

  it.each<[string, RawLog]>([
    ['another block', logAt(4n)],
    ['another contract', logAt(5n, { address: `0x${'b'.repeat(40)}` })],
    ['another event', logAt(5n, { topics: [`0x${'2'.repeat(64)}`] })],
    ['a block that was taken back', logAt(5n, { removed: true })],
  ])('takes no log of %s', async (_, log) => {
    await expect(read(() => ({ logs: [log] }))).rejects.toThrow('that was not asked for');
  });
});
