import { describe, expect, it } from '@jest/globals';
import { type BlockHash, type BlockHeader } from '#libs/domain';
import { joinRanges, type VerifiedRange } from './verified-range.js';

const hash = (number: number, branch = 0): BlockHash =>
  `0x${branch}${number.toString(16).padStart(63, '0')}` as BlockHash;

const header = (number: number, branch = 0): BlockHeader => ({
  number: BigInt(number),
  hash: hash(number, branch),
  parentHash: hash(number - 1, branch),
  timestampSeconds: 1_700_000_000 + number,
});

function aRange(from: number, to: number, overrides: Partial<VerifiedRange> = {}): VerifiedRange {
  const headers = Array.from({ length: to - from + 1 }, (_, index) => header(from + index));
  return {
    answer: {
      from: BigInt(from),
      to: BigInt(to),
      endpoint: 'node',
      parentHash: header(from).parentHash,
      head: header(to),
      blocks: [{ blockNumber: BigInt(from), timestampSeconds: 1_700_000_000 + from, deltas: [] }],
      headers,
      isProven: true,
      burnt: 0n,
      events: to,
      bytes: 10,
    },
    delta: 5n,
    contractTotal: BigInt(to) * 5n,
    totalBy: 'node',
    other: undefined,
    checkpoints: [{ head: header(to), total: BigInt(to) * 5n, endpoint: 'node' }],
    isConfirmed: false,
    isSuspect: false,
    bytes: 10,
    ...overrides,
  };
}

describe('joinRanges', () => {
  it('makes of two neighbours what asking for both at once would have brought', () => {
    const joined = joinRanges(aRange(1, 1), aRange(2, 2));
    expect(joined).toEqual({
      answer: {
        from: 1n,
        to: 2n,
        endpoint: 'node',
        parentHash: header(1).parentHash,
        head: header(2),
        blocks: [1, 2].map((number) => ({
          blockNumber: BigInt(number),
          timestampSeconds: 1_700_000_000 + number,
          deltas: [],
        })),
        headers: [header(1), header(2)],
        events: 3,
        isProven: true,
        burnt: 0n,
        bytes: 20,
      },
      delta: 10n,
      contractTotal: 10n,
      totalBy: 'node',
      other: undefined,
      checkpoints: [
        { head: header(1), total: 5n, endpoint: 'node' },
        { head: header(2), total: 10n, endpoint: 'node' },
      ],
      isConfirmed: false,
      isSuspect: false,
      bytes: 20,
    });
  });

  it('joins what was read without linking it, and what two endpoints gave', () => {
    const { answer } = aRange(2, 2);
    const later = { answer: { ...answer, parentHash: undefined, endpoint: 'other' } };
    expect(joinRanges(aRange(1, 1), aRange(2, 2, later))?.answer).toMatchObject({ to: 2n });
  });

  it('is confirmed where both parts are', () => {
    const confirmed = { isConfirmed: true };
    expect(joinRanges(aRange(1, 1, confirmed), aRange(2, 2, confirmed))).toMatchObject(confirmed);
    expect(joinRanges(aRange(1, 1), aRange(2, 2, confirmed))?.isConfirmed).toBe(false);
  });

  it('joins ranges whose totals nobody knows to one whose total is known', () => {
    const unknown = { contractTotal: undefined };
    expect(joinRanges(aRange(1, 1, unknown), aRange(2, 2, unknown))).toBeDefined();
    expect(joinRanges(aRange(1, 1, unknown), aRange(2, 2))?.contractTotal).toBe(10n);
  });

  it.each<[string, VerifiedRange, VerifiedRange]>([
    ['one was read in another way', aRange(1, 1), aRange(2, 2, { isSuspect: true })],
    ['the other was', aRange(1, 1, { isSuspect: true }), aRange(2, 2)],
    ['the contract tells of other events', aRange(1, 1), aRange(2, 2, { delta: 4n })],
    ['the later total is not known', aRange(1, 1), aRange(2, 2, { contractTotal: undefined })],
    [
      'they are of two forks',
      aRange(1, 1),
      aRange(2, 2, { answer: { ...aRange(2, 2).answer, parentHash: hash(1, 1) } }),
    ],
  ])('leaves them apart where %s', (_, earlier, later) => {
    expect(joinRanges(earlier, later)).toBeUndefined();
  });
});
