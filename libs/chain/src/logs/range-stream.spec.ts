import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RangeTooLargeError } from '../rpc/rpc.errors.js';
import { type BlockRange } from './read-range.js';
import { RangeSizer, streamRanges } from './range-stream.js';

interface Answer extends BlockRange {
  readonly bytes: number;
}

const sizer = (initialBlocks = 10): RangeSizer =>
  new RangeSizer({ targetBytes: 1000, maxBlocks: 100, initialBlocks });

async function collect(ranges: AsyncGenerator<Answer>): Promise<BlockRange[]> {
  const all: BlockRange[] = [];
  for await (const { from, to } of ranges) all.push({ from, to });
  return all;
}

/** A node that answers after some turns of the event loop. */
function node(options: {
  maxBlocks?: number;
  proposes?: (range: BlockRange) => bigint;
  turns?: () => number;
}): {
  fetch: (range: BlockRange) => Promise<Answer>;
  asked: BlockRange[];
} {
  const asked: BlockRange[] = [];
  return {
    asked,
    async fetch(range) {
      asked.push(range);
      for (let turn = options.turns?.() ?? 0; turn > 0; turn--)
        await new Promise((resolve) => setImmediate(resolve));
      const blocks = Number(range.to - range.from) + 1;
      if (options.maxBlocks !== undefined && blocks > options.maxBlocks)
        throw new RangeTooLargeError('too many', {
          endpoint: 'node',
          ...(options.proposes && { proposedTo: options.proposes(range) }),
        });
      return { ...range, bytes: blocks * 10 };
    },
  };
}

function expectWhole(ranges: readonly BlockRange[], whole: BlockRange): void {
  let next = whole.from;
  for (const { from, to } of ranges) {
    expect(from).toBe(next);
    expect(to).toBeGreaterThanOrEqual(from);
    next = to + 1n;
  }
  expect(next).toBe(whole.to + 1n);
}

const never = new AbortController().signal;

describe('streamRanges', () => {
  it('hands out every block once and in order, whatever order the answers come in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          blocks: fc.integer({ min: 1, max: 400 }),
          initial: fc.integer({ min: 1, max: 60 }),
          maxBlocks: fc.integer({ min: 1, max: 60 }),
          concurrency: fc.integer({ min: 1, max: 6 }),
          maxBufferedBytes: fc.integer({ min: 1, max: 2000 }),
          lie: fc.integer({ min: -5, max: 500 }),
          delays: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 }),
        }),
        async ({ blocks, initial, maxBlocks, concurrency, maxBufferedBytes, lie, delays }) => {
          let call = 0;
          const { fetch } = node({
            maxBlocks,
            proposes: ({ from }) => from + BigInt(lie),
            turns: () => delays[call++ % delays.length] ?? 0,
          });
          const whole = { from: 7n, to: 6n + BigInt(blocks) };
          const ranges = await collect(
            streamRanges(
              whole,
              {
                fetch,
                sizer: sizer(initial),
                concurrency: () => concurrency,
                maxBufferedBytes,
              },
              never,
            ),
          );
          expectWhole(ranges, whole);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('ends every range where the cut says', async () => {
    const { fetch } = node({});
    const cut = (range: BlockRange): BlockRange =>
      range.from <= 15n && range.to > 15n ? { from: range.from, to: 15n } : range;
    const ranges = await collect(
      streamRanges(
        { from: 1n, to: 40n },
        { fetch, sizer: sizer(), concurrency: () => 2, maxBufferedBytes: 1e6, cut },
        never,
      ),
    );
    expect(ranges.some(({ to }) => to === 15n)).toBe(true);
    expectWhole(ranges, { from: 1n, to: 40n });
  });

  it('joins what is there already, and nothing that must stay apart', async () => {
    const { fetch, asked } = node({});
    const join = (earlier: Answer, later: Answer): Answer | undefined =>
      later.to > 50n
        ? undefined
        : { from: earlier.from, to: later.to, bytes: earlier.bytes + later.bytes };
    const whole = { from: 1n, to: 100n };
    const options = { fetch, sizer: sizer(), concurrency: () => 2, maxBufferedBytes: 400, join };
    const ranges: BlockRange[] = [];
    for await (const { from, to } of streamRanges(whole, options, never)) {
      ranges.push({ from, to });
      // The consumer is slow, so more answers arrive in the meantime.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expectWhole(ranges, whole);
    const wasAsked = ({ from, to }: BlockRange): boolean =>
      asked.some((range) => range.from === from && range.to === to);
    expect(ranges.every(({ from, to }) => to <= 50n || wasAsked({ from, to }))).toBe(true);
    expect(ranges.every(wasAsked)).toBe(false);
  });

  it('joins no more than half of the buffer', async () => {
    const { fetch } = node({});
    const join = (earlier: Answer, later: Answer): Answer => ({
      ...{ from: earlier.from, to: later.to, bytes: earlier.bytes + later.bytes },
    });
    const fixed = new RangeSizer({ targetBytes: 100, maxBlocks: 10, initialBlocks: 10 });
    const options = { fetch, sizer: fixed, concurrency: () => 4, maxBufferedBytes: 600, join };
    const whole = { from: 1n, to: 300n };
    const sizes: number[] = [];
    for await (const { bytes } of streamRanges(whole, options, never)) {
      sizes.push(bytes);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(Math.max(...sizes)).toBe(300);
  });

  it('hands out what came before an error, then raises it', async () => {
    const fetch = (range: BlockRange): Promise<Answer> =>
      range.from === 21n
        ? Promise.reject(new Error('node down'))
        : Promise.resolve({ ...range, bytes: 100 });
    const seen: bigint[] = [];
    const run = async (): Promise<void> => {
      const options = { fetch, sizer: sizer(), concurrency: () => 4, maxBufferedBytes: 1e6 };
      for await (const { to } of streamRanges({ from: 1n, to: 60n }, options, never)) seen.push(to);
    };
    await expect(run()).rejects.toThrow('node down');
    expect(seen).toEqual([10n, 20n]);
  });

  it('raises "too large" for a single block, which cannot be narrowed', async () => {
    const { fetch } = node({ maxBlocks: 0 });
    const options = { fetch, sizer: sizer(), concurrency: () => 2, maxBufferedBytes: 1e6 };
    await expect(
      collect(streamRanges({ from: 1n, to: 4n }, options, never)),
    ).rejects.toBeInstanceOf(RangeTooLargeError);
  });

  it('fetches no further ahead than the buffer allows', async () => {
    const { fetch, asked } = node({});
    const ranges = streamRanges(
      { from: 1n, to: 1000n },
      { fetch, sizer: sizer(), concurrency: () => 4, maxBufferedBytes: 150 },
      never,
    );
    await ranges.next();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(asked.length).toBeLessThanOrEqual(6);
    await ranges.return();
  });

  it('stops the requests in flight when nobody wants them any more', async () => {
    const signals: AbortSignal[] = [];
    const fetch = (range: BlockRange, signal: AbortSignal): Promise<Answer> => {
      signals.push(signal);
      return Promise.resolve({ ...range, bytes: 100 });
    };
    const options = { fetch, sizer: sizer(), concurrency: () => 3, maxBufferedBytes: 1e6 };
    const ranges = streamRanges({ from: 1n, to: 100n }, options, never);
    await ranges.next();
    await ranges.return();
    expect(signals.every((signal) => signal.aborted)).toBe(true);
  });

  it('ends with the reason when it is aborted while it waits', async () => {
    const stop = new AbortController();
    const fetch = (): Promise<Answer> => new Promise(() => undefined);
    const options = { fetch, sizer: sizer(), concurrency: () => 3, maxBufferedBytes: 1e6 };
    const ranges = collect(streamRanges({ from: 1n, to: 100n }, options, stop.signal));
    stop.abort(new Error('shutting down'));
    await expect(ranges).rejects.toThrow('shutting down');
  });
});

const options = { targetBytes: 1000, maxBlocks: 1000, initialBlocks: 100 };

/** Requests `ranges` ranges from a provider that accepts up to `limit` blocks. @returns the requested sizes */
function ask(sizer: RangeSizer, limit: number, ranges: number): number[] {
  return Array.from({ length: ranges }, () => {
    const size = sizer.next();
    if (size > limit) sizer.refused(size);
    else sizer.succeeded(size, 1);
    return size;
  });
}

describe('RangeSizer', () => {
  it('doubles at the most while answers are small', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(100, 10);
    expect(sizer.size).toBe(200);
    sizer.succeeded(200, 10);
    expect(sizer.size).toBe(400);
  });

  it('goes to the size that would have met the target, halving at the most', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(100, 1250);
    expect(sizer.size).toBe(80);
    sizer.succeeded(80, 1_000_000);
    expect(sizer.size).toBe(40);
  });

  it('does not grow on a short range at the head', () => {
    const sizer = new RangeSizer(options);
    sizer.succeeded(1, 1);
    expect(sizer.size).toBe(100);
  });

  it('tells how many bytes the next answer may have', () => {
    const sizer = new RangeSizer(options);
    expect(sizer.expectedBytes).toBe(0);
    sizer.succeeded(100, 1000);
    expect(sizer.expectedBytes).toBe(1000);
    sizer.succeeded(100, 3000);
    expect(sizer.expectedBytes).toBe(sizer.size * 20);
  });

  it('halves what was refused, and never goes beyond a shorter one that was', () => {
    const sizer = new RangeSizer(options);
    expect(sizer.refused(100)).toBe(50);
    expect(sizer.refused(40)).toBe(20);
    expect(sizer.refused(1000)).toBe(20);
    expect(sizer.size).toBe(20);
  });

  it('takes the proposed range, and halves where the proposal is no help', () => {
    const sizer = new RangeSizer(options);
    expect(sizer.refused(100, 30)).toBe(30);
    expect(sizer.refused(30, 30)).toBe(15);
    expect(sizer.refused(15, 4000)).toBe(7);
    expect(sizer.refused(7, 0)).toBe(3);
    expect(sizer.refused(3, -5)).toBe(1);
    expect(sizer.refused(1)).toBe(1);
    expect(sizer.size).toBe(1);
  });

  it('stays at a limit that the provider names', () => {
    const sizer = new RangeSizer({ ...options, initialBlocks: 1000 });
    sizer.refused(1000, 300);
    sizer.succeeded(300, 1);
    expect(sizer.size).toBe(300);
  });

  it.each([10, 500])('finds a limit of %i that is never named', (limit) => {
    const sizer = new RangeSizer({ ...options, initialBlocks: 1000 });
    const sizes = ask(sizer, limit, 18);
    expect(sizes.filter((size) => size > limit).length).toBeLessThanOrEqual(12);
    const served = sizes.filter((size) => size <= limit);
    expect(served.at(-1)).toBeGreaterThanOrEqual(limit * 0.9);
  });

  it('tries more again soon, and less often each time that it is refused again', () => {
    const sizer = new RangeSizer({ ...options, initialBlocks: 1000 });
    const sizes = ask(sizer, 500, 20_000);
    const refused = sizes.filter((size) => size > 500);
    expect(refused.length).toBeLessThan(sizes.length * 0.01);
    expect(refused.length).toBeGreaterThan(10);
    const served = sizes.filter((size) => size <= 500).reduce((sum, size) => sum + size, 0);
    expect(served / (500 * sizes.length)).toBeGreaterThan(0.97);
  });

  it('tries more with one range at a time', () => {
    const sizer = new RangeSizer({ ...options, initialBlocks: 1000 });
    ask(sizer, 500, 12);
    let size = sizer.next();
    for (let tries = 0; size <= 500 && tries < 100; tries++) {
      sizer.succeeded(size, 1);
      size = sizer.next();
    }
    expect(size).toBeGreaterThan(500);
    expect(sizer.next()).toBeLessThanOrEqual(500);
  });

  it('is back at the full size soon after a limit is lifted', () => {
    const sizer = new RangeSizer({ ...options, initialBlocks: 1000 });
    ask(sizer, 100, 12);
    expect(ask(sizer, Infinity, 20).at(-1)).toBe(1000);
  });

  it('always asks for one block at the least, and for less than was refused', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ refused: fc.boolean(), bytes: fc.nat(5000), proposed: fc.integer() }),
          { maxLength: 200 },
        ),
        (steps) => {
          const sizer = new RangeSizer(options);
          for (const { refused, bytes, proposed } of steps) {
            const size = sizer.next();
            if (refused) expect(sizer.refused(size, proposed)).toBeLessThan(Math.max(2, size));
            else sizer.succeeded(size, bytes);
            expect(sizer.size).toBeGreaterThanOrEqual(1);
            expect(sizer.size).toBeLessThanOrEqual(options.maxBlocks);
          }
        },
      ),
    );
  });
});
