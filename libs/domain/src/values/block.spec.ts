import { describe, expect, it } from '@jest/globals';
import { aheadOfClock, type BlockHash, type BlockRef, differenceOf } from './block.js';

const NOW = 1_760_000_000;
const aBlock = (changes: Partial<BlockRef> = {}): BlockRef => ({
  number: 120n,
  hash: `0x${'a'.repeat(64)}` as BlockHash,
  timestampSeconds: NOW,
  ...changes,
});

describe('a final block', () => {
  it.each([-86_400, 0, 300])('%d seconds ahead of our clock is believed', (ahead) => {
    expect(aheadOfClock(aBlock({ timestampSeconds: NOW + ahead }), NOW)).toBeUndefined();
  });

  it('more than five minutes ahead is refused, with both times', () => {
    expect(aheadOfClock(aBlock({ timestampSeconds: NOW + 301 }), NOW)).toBe(
      "final block 120 is of 2025-10-09T08:58:21.000Z, and this machine's clock says 2025-10-09T08:53:20.000Z",
    );
    const never = aBlock({ timestampSeconds: Number.MAX_SAFE_INTEGER });
    expect(aheadOfClock(never, NOW)).toContain(`is of second ${Number.MAX_SAFE_INTEGER}`);
  });

  it('of which two endpoints say the same makes no difference', () => {
    const one = { witness: 'one#1', block: aBlock() };
    expect(differenceOf(one, { ...one, witness: 'two#2' })).toBeUndefined();
  });

  it.each<[string, Partial<BlockRef>, string]>([
    ['hash', { hash: `0x${'b'.repeat(64)}` as BlockHash }, `is 0x${'b'.repeat(64)} of`],
    ['time', { timestampSeconds: NOW + 1 }, 'of 2025-10-09T08:53:21.000Z'],
    ['number', { number: 121n }, 'final block 121'],
  ])('of which they say another %s is told with both figures', (_what, changes, figure) => {
    const said = differenceOf(
      { witness: 'one#1', block: aBlock() },
      { witness: 'two#2', block: aBlock(changes) },
    );
    expect(said).toContain(
      `one#1 says that final block 120 is 0x${'a'.repeat(64)} of 2025-10-09T08:53:20.000Z, two#2 says that`,
    );
    expect(said).toContain(figure);
  });
});
