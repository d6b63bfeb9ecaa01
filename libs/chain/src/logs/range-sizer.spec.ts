import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RangeSizer } from './range-stream.js';

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
