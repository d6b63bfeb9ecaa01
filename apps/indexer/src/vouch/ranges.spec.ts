import { describe, expect, it } from '@jest/globals';
import { type ReadRange } from '#libs/chain';
import { type Address, type BlockHash, type BlockHeader } from '#libs/domain';
import { joinRanges, partAfter, partUpTo } from './ranges.js';

const hash = (number: number, branch = 0): BlockHash =>
  `0x${branch}${number.toString(16).padStart(63, '0')}` as BlockHash;

const header = (number: number, branch = 0): BlockHeader => ({
  number: BigInt(number),
  hash: hash(number, branch),
  parentHash: hash(number - 1, branch),
  timestampSeconds: 1_700_000_000 + number,
});

const total = (number: number) => ({
  block: header(number),
  total: BigInt(number) * 5n,
  endpoint: 'node',
});

function aRange(from: number, to: number, overrides: Partial<ReadRange> = {}): ReadRange {
  const headers = Array.from({ length: to - from + 1 }, (_, index) => header(from + index));
  return {
    from: BigInt(from),
    to: BigInt(to),
    endpoint: 'node',
    parentHash: header(from).parentHash,
    head: header(to),
    blocks: [{ blockNumber: BigInt(from), timestampSeconds: 1_700_000_000 + from, deltas: [] }],
    headers,
    isProven: true,
    change: 5n,
    totals: [total(to)],
    confirmedBy: undefined,
    burnt: 0n,
    events: to,
    bytes: 10,
    ...overrides,
  };
}

describe('joinRanges', () => {
  it('makes of two neighbours what asking for both at once would have brought', () => {
    const joined = joinRanges(aRange(1, 1), aRange(2, 2));
    expect(joined).toEqual({
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
      isProven: true,
      change: 10n,
      totals: [total(1), total(2)],
      confirmedBy: undefined,
      burnt: 0n,
      events: 3,
      bytes: 20,
    });
  });

  it('joins what was read without linking it, and what two endpoints gave', () => {
    const later = { parentHash: undefined, endpoint: 'other' };
    expect(joinRanges(aRange(1, 1), aRange(2, 2, later))).toMatchObject({ to: 2n });
  });

  it('is confirmed where both parts are', () => {
    const confirmed = { confirmedBy: { endpoint: 'other', finalised: undefined } };
    expect(joinRanges(aRange(1, 1, confirmed), aRange(2, 2, confirmed))).toMatchObject(confirmed);
    expect(joinRanges(aRange(1, 1), aRange(2, 2, confirmed))?.confirmedBy).toBeUndefined();
    expect(joinRanges(aRange(1, 1, confirmed), aRange(2, 2))?.confirmedBy).toBeUndefined();
  });

  it('joins ranges whose totals nobody knows to one whose total is known', () => {
    const unknown = { totals: [] };
    expect(joinRanges(aRange(1, 1, unknown), aRange(2, 2, unknown))).toBeDefined();
    expect(joinRanges(aRange(1, 1, unknown), aRange(2, 2))?.totals).toEqual([total(2)]);
  });

  it.each<[string, ReadRange, ReadRange]>([
    ['the contract tells of other events', aRange(1, 1), aRange(2, 2, { change: 4n })],
    ['the later total is not known', aRange(1, 1), aRange(2, 2, { totals: [] })],
    ['they are of two forks', aRange(1, 1), aRange(2, 2, { parentHash: hash(1, 1) })],
  ])('leaves them apart where %s', (_, earlier, later) => {
    expect(joinRanges(earlier, later)).toBeUndefined();
  });
});

describe('a part of a range', () => {
  const wallet = '0x00000000000000000000000000000000000000aa' as Address;
  const zero = '0x0000000000000000000000000000000000000000' as Address;
  const blocks = [
    { blockNumber: 5n, timestampSeconds: 1, deltas: [{ wallet, amount: 7n }] },
    {
      blockNumber: 9n,
      timestampSeconds: 2,
      deltas: [
        { wallet, amount: -2n },
        { wallet: zero, amount: 2n },
      ],
    },
  ];
  const range = aRange(1, 12, { blocks, change: 5n });

  it.each([
    [4, 0n],
    [5, 7n],
    [8, 7n],
    [9, 5n],
  ])('adds up what happened until block %s, without the zero address', (block, change) => {
    expect(partUpTo(range, header(block))).toMatchObject({ to: BigInt(block), change });
    expect(partAfter(range, header(block))).toMatchObject({
      from: BigInt(block) + 1n,
      change: 5n - change,
    });
  });
});
