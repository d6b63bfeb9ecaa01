import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { aBlock } from '#libs/testing/database';
import { type IndexOptions } from '../settings/index-options.js';
import { type IndexStatus } from './index-status.js';
import { BackfillProgress, percentOf } from './backfill-progress.js';

const FIRST = 1_001n;
const CHAIN_HEAD = 101_000n;

let nowMs: number;
let lines: Record<string, unknown>[];
let status: { head: ReturnType<typeof aBlock> | undefined; chainHeadNumber: bigint | undefined };
let progress: BackfillProgress;

beforeEach(() => {
  nowMs = 1_760_000_000_000;
  lines = [];
  status = { head: undefined, chainHeadNumber: undefined };
  const logger = createLogger({
    app: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as never) },
  });
  const options = { firstBlock: FIRST } as IndexOptions;
  progress = new BackfillProgress({ nowMs: () => nowMs }, logger, status as IndexStatus, options);
});

/** Applies ranges of `blocks` blocks, one each `everyMs`. */
function read(ranges: number, blocks: number, everyMs: number, chainHead = CHAIN_HEAD): void {
  for (let range = 0; range < ranges; range++) {
    const from = status.head === undefined ? FIRST : status.head.number + 1n;
    const to = from + BigInt(blocks) - 1n;
    nowMs += everyMs;
    status.chainHeadNumber = chainHead;
    progress.applied({ from, to }, 2, chainHead);
    status.head = { ...aBlock(1), number: to };
  }
}

describe('how far the index is', () => {
  it('is not known before the chain was asked', () => {
    expect(progress.figures()).toEqual({
      startBlock: FIRST,
      ratio: undefined,
      blocksPerSecond: undefined,
      secondsLeft: undefined,
    });
  });

  it('counts from the first block of the index, not from block 0', () => {
    read(50, 1_000, 100);
    expect(progress.figures()).toMatchObject({ ratio: 0.5, blocksPerSecond: 10_000 });
    expect(progress.figures().secondsLeft).toBe(5);
  });

  it('has the rate of the last 30 seconds: a provider that slows down shows', () => {
    read(400, 100, 100);
    expect(progress.figures().blocksPerSecond).toBeCloseTo(1_000, -1);
    read(60, 5, 1_000);
    expect(progress.figures().blocksPerSecond).toBeCloseTo(5, 1);
    expect(progress.figures().secondsLeft).toBeGreaterThan(10_000);
  });

  it('falls to nothing while nothing comes in, and has no time left to tell then', () => {
    read(20, 100, 1_000);
    nowMs += 20_000;
    expect(progress.figures().blocksPerSecond).toBeLessThan(70);
    nowMs += 31_000;
    expect(progress.figures()).toMatchObject({ blocksPerSecond: 0, secondsLeft: undefined });
  });

  it('begins to measure again after a rollback', () => {
    read(20, 100, 1_000);
    status.head = { ...aBlock(1), number: FIRST + 99n };
    read(20, 100, 1_000);
    expect(progress.figures().blocksPerSecond).toBeCloseTo(100, 0);
  });

  it('is whole and takes no more time when level', () => {
    read(100, 1_000, 100);
    expect(progress.figures()).toMatchObject({ ratio: 1, secondsLeft: 0 });
    expect(percentOf(0.99999)).toBe(99.9);
  });
});

describe('the log', () => {
  it('has a line every five seconds, and one at the end', () => {
    read(100, 1_000, 100);
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'Backfilling',
        block: 52_000,
        ofBlock: 101_000,
        percent: 51,
        blocksPerSecond: 10_000,
        secondsLeft: 5,
      }),
      expect.objectContaining({
        msg: 'Caught up with the chain',
        block: 101_000,
        blocks: 100_000,
        events: 200,
      }),
    ]);
  });

  it('says nothing of a block or two at the head', () => {
    read(30, 1_000, 1_000, FIRST + 29_999n);
    const before = lines.length;
    for (let block = 0; block < 20; block++) {
      read(1, 1, 2_000, (status.head?.number ?? 0n) + 1n);
    }
    expect(lines).toHaveLength(before);
  });
});
