/**
 * The Merkle tree over the leaves of a day, in the format of a StandardMerkleTree of `@openzeppelin/merkle-tree`. The
 * leaves stand at the end of the array of nodes, ascending by hash from the last place backwards. Each inner node is
 * the hash of its two children, the lower one first. All nodes are in one buffer.
 */
import {
  addressBytes,
  addressFrom,
  compareBytes,
  type DayLeaf,
  FIRST_ADDRESS,
  type Keccak256,
  LAST_ADDRESS,
  LeafEncoder,
  LOW_BYTES,
  NODE_BYTES,
  type NodeHash,
  nodeFrom,
} from './day-leaf.js';
import { type DayList } from './day-list.js';
import { type Address } from '../values/address.js';

const FIRST = addressBytes(FIRST_ADDRESS);
const LAST = addressBytes(LAST_ADDRESS);
const NOTHING = new Uint8Array(LOW_BYTES);

/**
 * The leaves of a list in ascending order of the wallet: one for each entry, and those of both ends of the address
 * space.
 */
export class DayLeaves {
  readonly length: number;

  constructor(readonly list: DayList) {
    const { length } = list;
    const endsAtLast = length > 0 && compareBytes(list.wallet(length - 1), LAST) === 0;
    this.length = length + (endsAtLast ? 1 : 2);
  }

  wallet(place: number): Uint8Array {
    if (place === 0) return FIRST;
    return place <= this.list.length ? this.list.wallet(place - 1) : LAST;
  }

  low(place: number): Uint8Array {
    return place > 0 && place <= this.list.length ? this.list.low(place - 1) : NOTHING;
  }

  at(place: number): DayLeaf {
    const { wallet, low } =
      place > 0 && place <= this.list.length
        ? this.list.at(place - 1)
        : { wallet: addressFrom(this.wallet(place)), low: 0n };
    return { wallet, low, next: addressFrom(this.wallet(place + 1)) };
  }

  /** The place of the leaf that proves the amount of a wallet: its own leaf, or the leaf that encloses the wallet. */
  placeOf(wallet: Address): number {
    if (wallet === LAST_ADDRESS) return this.length - 1;
    return this.list.countUpTo(wallet);
  }
}

export class DayTree {
  /**
   * @param nodes 32 bytes each, the root first
   * @param indices the index of each leaf in `nodes`, in the order of the wallets
   */
  constructor(
    readonly leaves: DayLeaves,
    readonly nodes: Uint8Array,
    readonly indices: Uint32Array,
  ) {}

  get root(): NodeHash {
    return nodeAt(this.nodes, 0);
  }

  /** The leaf that proves the amount of a wallet, and the sibling nodes from the leaf up to the root. */
  prove(wallet: Address): { readonly leaf: DayLeaf; readonly proof: readonly NodeHash[] } {
    const place = this.leaves.placeOf(wallet);
    const siblings = siblingsOf(this.indices[place] as number);
    return {
      leaf: this.leaves.at(place),
      proof: siblings.map((index) => nodeAt(this.nodes, index)),
    };
  }
}

function nodeAt(nodes: Uint8Array, index: number): NodeHash {
  return nodeFrom(nodes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES));
}

/** The indices of the nodes of a proof, from the sibling of the node `index` upwards. */
export function siblingsOf(index: number): number[] {
  const siblings: number[] = [];
  for (let node = index; node > 0; node = (node - 1) >>> 1) {
    siblings.push(node % 2 === 1 ? node + 1 : node - 1);
  }
  return siblings;
}

export function buildDayTree(list: DayList, keccak: Keccak256): DayTree {
  const leaves = new DayLeaves(list);
  const { nodes, indices } = buildNodes(hashLeaves(leaves, keccak), keccak);
  return new DayTree(leaves, nodes, indices);
}

/**
 * Builds the nodes of a StandardMerkleTree over the hashes of leaves, 32 bytes each.
 * @returns all nodes, the root first, and the indices of the leaves among them, in the order of `hashes`
 */
function buildNodes(
  hashes: Uint8Array,
  keccak: Keccak256,
): { readonly nodes: Uint8Array; readonly indices: Uint32Array } {
  const count = hashes.length / NODE_BYTES;
  const order = ascendingOrder(hashes);
  const nodes = new Uint8Array((2 * count - 1) * NODE_BYTES);
  const indices = new Uint32Array(count);
  for (let rank = 0; rank < count; rank += 1) {
    const place = order[rank] as number;
    const index = 2 * count - 2 - rank;
    nodes.set(hashes.subarray(place * NODE_BYTES, (place + 1) * NODE_BYTES), index * NODE_BYTES);
    indices[place] = index;
  }
  const pair = new Uint8Array(2 * NODE_BYTES);
  for (let index = count - 2; index >= 0; index -= 1) {
    const left = (2 * index + 1) * NODE_BYTES;
    const both = nodes.subarray(left, left + 2 * NODE_BYTES);
    nodes.set(keccak(inOrder(both, pair)), index * NODE_BYTES);
  }
  return { nodes, indices };
}

/**
 * Returns two adjacent nodes with the lower one first. @param pair the buffer of the result where the nodes change
 * places
 */
export function inOrder(both: Uint8Array, pair: Uint8Array): Uint8Array {
  const left = both.subarray(0, NODE_BYTES);
  const right = both.subarray(NODE_BYTES);
  if (compareBytes(left, right) <= 0) return both;
  pair.set(right, 0);
  pair.set(left, NODE_BYTES);
  return pair;
}

function hashLeaves(leaves: DayLeaves, keccak: Keccak256): Uint8Array {
  const hashes = new Uint8Array(leaves.length * NODE_BYTES);
  const encoder = new LeafEncoder(keccak);
  for (let place = 0; place < leaves.length; place += 1) {
    const hash = encoder.hash(leaves.wallet(place), leaves.low(place), leaves.wallet(place + 1));
    hashes.set(hash, place * NODE_BYTES);
  }
  return hashes;
}

/** Upper bound for the leaves of a tree: a place and the first 24 bits of a hash fit into one double exactly. */
const PLACES = 2 ** 28;

/**
 * The places of hashes of 32 bytes, in ascending order of the hashes. Sorts by numbers made of the first 24 bits and the
 * place, then moves the few hashes with the same first bits by insertion.
 */
export function ascendingOrder(hashes: Uint8Array): Uint32Array {
  const count = hashes.length / NODE_BYTES;
  if (count >= PLACES) throw new RangeError(`${count} leaves are more than a tree can have`);
  const keys = new Float64Array(count);
  for (let place = 0; place < count; place += 1) {
    const at = place * NODE_BYTES;
    const [a = 0, b = 0, c = 0] = [hashes[at], hashes[at + 1], hashes[at + 2]];
    keys[place] = (a * 65_536 + b * 256 + c) * PLACES + place;
  }
  keys.sort();
  const order = new Uint32Array(count);
  for (let rank = 0; rank < count; rank += 1) {
    const place = (keys[rank] as number) % PLACES;
    let at = rank;
    while (at > 0 && isAbove(hashes, order[at - 1] as number, place)) {
      order[at] = order[at - 1] as number;
      at -= 1;
    }
    order[at] = place;
  }
  return order;
}

function isAbove(hashes: Uint8Array, a: number, b: number): boolean {
  for (let byte = 0; byte < NODE_BYTES; byte += 1) {
    const left = hashes[a * NODE_BYTES + byte] as number;
    const right = hashes[b * NODE_BYTES + byte] as number;
    if (left !== right) return left > right;
  }
  return false;
}
