import { beforeAll, describe, expect, it } from '@jest/globals';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { createKeccak256 } from '#libs/keccak';
import { type Keccak256, type NodeHash } from './day-leaf.js';
import { buildPeriodTree } from './period-tree.js';

let keccak: Keccak256;
beforeAll(async () => {
  keccak = await createKeccak256();
});

const daysOf = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    day: 20_000 + place,
    root: `0x${(place + 1).toString(16).padStart(64, 'ab')}` as NodeHash,
  }));

describe('the tree of a period', () => {
  it.each([1, 2, 3, 28, 31, 366])('is the StandardMerkleTree over its %d days', (count) => {
    const days = daysOf(count);
    const tree = buildPeriodTree(days, keccak);
    const oracle = StandardMerkleTree.of(
      days.map(({ day, root }) => [String(day), root]),
      ['uint256', 'bytes32'],
    );
    expect(tree.root).toBe(oracle.root);
    for (const [place, { day, root }] of days.entries()) {
      expect(tree.prove(day)).toEqual({ day, root, proof: oracle.getProof(place) });
    }
  });

  it('proves no day outside of it', () => {
    const tree = buildPeriodTree(daysOf(3), keccak);
    expect([tree.prove(19_999), tree.prove(20_003)]).toEqual([undefined, undefined]);
  });
});
