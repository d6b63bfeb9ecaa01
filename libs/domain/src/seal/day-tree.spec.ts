import { beforeAll, describe, expect, it } from '@jest/globals';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import fc from 'fast-check';
import { createKeccak256 } from '#libs/keccak';
import { type Address } from '../values/address.js';
import {
  addressBytes,
  type DayLow,
  FIRST_ADDRESS,
  type Keccak256,
  LAST_ADDRESS,
  type NodeHash,
} from './day-leaf.js';
import { DayList, DayListBuilder } from './day-list.js';
import { provenLow } from './day-proof.js';
import { ascendingOrder, buildDayTree } from './day-tree.js';

const MOST = 2n ** 256n - 1n;

let keccak: Keccak256;
beforeAll(async () => {
  keccak = await createKeccak256();
});

const anAddress = (number: bigint): Address =>
  `0x${number.toString(16).padStart(40, '0')}` as Address;

/** Any wallets, often neighbours and wallets at both ends of the address space. */
const wallets: fc.Arbitrary<Address> = fc
  .oneof(
    fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }),
    fc.bigInt({ min: 1n, max: 12n }),
    fc.bigInt({ min: 2n ** 160n - 6n, max: 2n ** 160n - 1n }),
  )
  .map(anAddress);

const lows: fc.Arbitrary<DayLow[]> = fc
  .uniqueArray(
    fc.record({
      wallet: wallets,
      low: fc.oneof(fc.bigInt({ min: 1n, max: MOST }), fc.constant(1n), fc.constant(MOST)),
    }),
    { selector: ({ wallet }) => wallet, maxLength: 40 },
  )
  .map((entries) => entries.sort((a, b) => (a.wallet < b.wallet ? -1 : 1)));

function listOf(entries: readonly DayLow[]): DayList {
  const builder = new DayListBuilder(1);
  for (const { wallet, low } of entries) builder.add(addressBytes(wallet), low);
  return builder.list();
}

/** The leaves as the decision record defines them, computed without the code under test. */
function leavesOf(entries: readonly DayLow[]): [string, string, string][] {
  const all = new Map<string, bigint>([
    [FIRST_ADDRESS, 0n],
    [LAST_ADDRESS, 0n],
    ...entries.map(({ wallet, low }) => [wallet, low] as const),
  ]);
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([wallet, low], place) => {
    return [wallet, low.toString(), sorted[place + 1]?.[0] ?? LAST_ADDRESS];
  });
}

const TYPES = ['address', 'uint256', 'address'];

describe('ascendingOrder', () => {
  it.each([
    ['of any bytes', 255],
    // Of some thousand hashes, two have the same first 24 bits.
    ['that mostly begin with the same bytes', 1],
  ])('sorts hashes %s', (_, max) => {
    const hashes = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32, max }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(hashes, (all) => {
        const order = ascendingOrder(new Uint8Array(Buffer.concat(all)));
        const expected = all
          .map((hash, place) => ({ hash, place }))
          .sort((a, b) => Buffer.compare(a.hash, b.hash) || a.place - b.place);
        expect([...order]).toEqual(expected.map(({ place }) => place));
      }),
    );
  });
});

describe('buildDayTree', () => {
  it('has the nodes and the proofs of @openzeppelin/merkle-tree', () => {
    fc.assert(
      fc.property(lows, (entries) => {
        const leaves = leavesOf(entries);
        const theirs = StandardMerkleTree.of(leaves, TYPES);
        const ours = buildDayTree(listOf(entries), keccak);
        const { tree } = theirs.dump();
        expect(Buffer.from(ours.nodes).toString('hex')).toBe(tree.join('').replaceAll('0x', ''));
        for (const [place, [wallet]] of leaves.entries()) {
          const { leaf, proof } = ours.prove(wallet as Address);
          expect([leaf.wallet, leaf.low.toString(), leaf.next]).toEqual(leaves[place]);
          expect(proof).toEqual(theirs.getProof(place));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has a root for a day without any wallet', () => {
    const { root } = buildDayTree(listOf([]), keccak);
    expect(root).toBe(StandardMerkleTree.of(leavesOf([]), TYPES).root);
  });
});

describe('provenLow', () => {
  it('is what the list says, for wallets in it and for all others', () => {
    fc.assert(
      fc.property(lows, wallets, (entries, other) => {
        const tree = buildDayTree(listOf(entries), keccak);
        const { root } = tree;
        for (const wallet of [
          FIRST_ADDRESS,
          LAST_ADDRESS,
          other,
          ...entries.map((e) => e.wallet),
        ]) {
          const low = entries.find((entry) => entry.wallet === wallet)?.low ?? 0n;
          expect(provenLow(wallet, { root, ...tree.prove(wallet) }, keccak)).toBe(low);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('proves nothing by the leaf of another wallet, another amount, another root, or a proof that was changed', () => {
    const entries = [3n, 5n, 9n].map((number) => ({ wallet: anAddress(number), low: number }));
    const tree = buildDayTree(listOf(entries), keccak);
    const wallet = anAddress(5n);
    const good = { root: tree.root, ...tree.prove(wallet) };
    const { leaf, proof } = good;
    const [first = '' as NodeHash, ...others] = proof;
    expect(provenLow(wallet, good, keccak)).toBe(5n);
    const bad = [
      { ...good, ...tree.prove(anAddress(3n)) },
      { ...good, ...tree.prove(anAddress(1n)) },
      { ...good, leaf: { ...leaf, low: 6n } },
      { ...good, leaf: { ...leaf, next: anAddress(10n) } },
      { ...good, leaf: { ...leaf, wallet: anAddress(4n) } },
      { ...good, root: first },
      { ...good, proof: others },
      { ...good, proof: [...proof, first] },
      { ...good, proof: others.length === 0 ? [] : [others[0] as NodeHash, first] },
      { ...good, proof: Array.from({ length: 65 }, () => first) },
    ];
    for (const one of bad) expect(provenLow(wallet, one, keccak)).toBeUndefined();
  });

  it('proves no absence of a wallet that is there, by any leaf', () => {
    fc.assert(
      fc.property(lows, (entries) => {
        const tree = buildDayTree(listOf(entries), keccak);
        for (const { wallet, low } of entries) {
          for (const { wallet: other } of entries) {
            const proof = { root: tree.root, ...tree.prove(other) };
            expect(provenLow(wallet, proof, keccak)).toBe(wallet === other ? low : undefined);
          }
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('DayListBuilder', () => {
  it('leaves out a wallet with a low of 0, and sums the others', () => {
    const builder = new DayListBuilder();
    builder.add(addressBytes(anAddress(1n)), 0n);
    builder.add(addressBytes(anAddress(2n)), 7n);
    builder.add(addressBytes(anAddress(3n)), 8n);
    expect([...builder.list()]).toEqual([
      { wallet: anAddress(2n), low: 7n },
      { wallet: anAddress(3n), low: 8n },
    ]);
    expect(builder.list().total).toBe(15n);
  });

  it.each([
    ['a wallet below the one before', [5n, 4n], 1n],
    ['a wallet twice', [5n, 5n], 1n],
    ['the zero address', [0n], 1n],
    ['an amount that is no uint256', [1n], MOST + 1n],
    ['an amount below zero', [1n], -1n],
  ])('refuses %s', (_case, numbers, low) => {
    const builder = new DayListBuilder();
    expect(() => {
      for (const number of numbers) builder.add(addressBytes(anAddress(number)), low);
    }).toThrow(RangeError);
  });
});

describe('DayList', () => {
  it('sums amounts of any size, and finds each wallet and those between', () => {
    fc.assert(
      fc.property(lows, wallets, (entries, other) => {
        const list = listOf(entries);
        expect(list.total).toBe(entries.reduce((sum, { low }) => sum + low, 0n));
        expect([...list]).toEqual(entries);
        const upTo = entries.filter(({ wallet }) => wallet <= other).length;
        expect(list.countUpTo(other)).toBe(upTo);
      }),
    );
  });

  it('ends in an entry', () => {
    expect(() => new DayList(new Uint8Array(51))).toThrow(RangeError);
  });
});
