import { describe, expect, it } from '@jest/globals';
import { BatchSize } from './batch.js';
import { Rate } from './rate.js';
import { BatchTooLargeError } from './rpc.errors.js';

const NAME = 'node#1';
const calls = Array.from({ length: 1000 }, () => ({ method: 'eth_chainId', params: [] }));

/** The size of the largest request after so many answered batches of that size. */
function largestAfter(size: BatchSize, answers: number): number {
  const largest = (): number => {
    const parts = size.split([...calls.keys()], calls);
    return Math.max(...parts.map((part) => part.length));
  };
  for (let answer = 0; answer < answers; answer++) size.answered(largest());
  return largest();
}

describe('the size of batches', () => {
  const aSize = () => new BatchSize(NAME, new Rate(undefined, 0));

  it('is lower after broken ones, and rises again once many were answered, for they may have broken by chance', () => {
    const size = aSize();
    expect(largestAfter(size, 20)).toBe(1000);
    size.broke(1000);
    expect(largestAfter(size, 0)).toBe(500);
    size.broke(500);
    expect(largestAfter(size, 100)).toBe(100);
    expect(largestAfter(size, 1_000)).toBe(1000);
  });

  it('stays as the node names it', () => {
    const size = aSize();
    size.lower(new BatchTooLargeError('at most 20', { endpoint: NAME, limit: 20 }), 25);
    expect(largestAfter(size, 5_000)).toBe(20);
  });
});
