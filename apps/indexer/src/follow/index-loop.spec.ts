import { describe, expect, it } from '@jest/globals';
import { FencedError } from '#libs/db';
import { type BlockHash, type BlockRef, RetryableError } from '#libs/domain';
import { type IndexWriter } from '../write/index-writer.js';
import { type HeadsReader } from '../vouch/heads-reader.js';
import { IndexLoop, pollWaitMs } from './index-loop.js';

const nextTurnOfEvents = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('a turn ends when its write has ended, with the error of the write', async () => {
  const node = new RetryableError('NODE_AWAY', 'the node is away');
  const heads = { read: () => Promise.reject(node) } as unknown as HeadsReader;
  let endWrite: (error: Error) => void = () => undefined;
  const write = new Promise<void>((_, reject) => (endWrite = reject));
  const { signal } = new AbortController();
  const writer = { isOpen: true, settled: () => write, signal } as unknown as IndexWriter;
  const none = undefined as never;
  const loop = new IndexLoop(heads, none, none, none, none, none, none, none, none);
  let isOver = false;
  const turn = loop.turn(writer, 'more');
  const ended = turn.finally(() => (isOver = true));
  await nextTurnOfEvents();
  expect(isOver).toBe(false);
  endWrite(new FencedError());
  await expect(ended).rejects.toThrow(FencedError);
});

const NOW = 1_800_000_000;

function blocksEvery(seconds: number, count = 20, newest = NOW): BlockRef[] {
  return Array.from({ length: count }, (_, index) => ({
    number: BigInt(index),
    hash: `0x${index.toString(16).padStart(64, '0')}` as BlockHash,
    timestampSeconds: Math.floor(newest - (count - 1 - index) * seconds),
  }));
}

const situation = { pollIntervalMs: 2000, hasNewBlocks: true, nowMs: NOW * 1000 };

describe('pollWaitMs', () => {
  it('is one beat of a live chain after a new block', () => {
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(12) })).toBe(12_000);
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(3) })).toBe(3000);
  });

  it('is never less than the poll interval, nor more than 15 s', () => {
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(0.25) })).toBe(2000);
    expect(pollWaitMs({ ...situation, blocks: blocksEvery(60) })).toBe(15_000);
  });

  it.each([
    ['the block is late', { hasNewBlocks: false, blocks: blocksEvery(12) }],
    ['few blocks are known', { blocks: blocksEvery(12, 8) }],
    ['the chain is not live', { blocks: blocksEvery(12, 20, NOW - 61) }],
    ['there are none', { blocks: [] }],
  ])('is the poll interval where %s', (_, given) => {
    expect(pollWaitMs({ ...situation, ...given })).toBe(2000);
  });
});
