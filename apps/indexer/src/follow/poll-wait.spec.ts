import { describe, expect, it } from '@jest/globals';
import { type BlockHash, type BlockRef } from '#libs/domain';
import { pollWaitMs } from './index-loop.js';

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
