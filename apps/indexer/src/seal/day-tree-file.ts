/**
 * The Merkle tree of a day, built in temporary files: the same nodes as those of `buildDayTree`, in memory that hardly
 * grows with the number of wallets (4 bytes for each).
 *
 * The nodes are written from the last one to the root: first the hashes of the leaves in ascending order, then the hash
 * of each two nodes that were not hashed yet, which are always the next two of the file. The leaves are sorted in parts:
 * each part has the hashes between two limits, taken from the file of all hashes.
 */
import { type SealedLists, type SealedLeaves } from '#libs/db';
import {
  ascendingOrder,
  ENTRY_BYTES,
  inOrder,
  type Keccak256,
  LeafEncoder,
  LOW_BYTES,
  NODE_BYTES,
  type NodeHash,
  nodeFrom,
  WALLET_BYTES,
} from '#libs/domain';
import { type DayFile } from './day-file.js';
import { type ScratchFile, type ScratchFolder } from './scratch-file.js';

/** Leaves that are sorted at once: 20 MB. */
const SORTED_AT_ONCE = 2 ** 19;
/** The first 16 bits of a hash. */
const PREFIXES = 2 ** 16;

/** The hashes with a prefix from `from` up to, not including, `to`. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export class DayTreeFile implements SealedLists {
  readonly root: NodeHash;

  private constructor(
    private readonly day: DayFile,
    private readonly nodesBackwards: ScratchFile,
    /** The index of each leaf among the nodes, in the order of the wallets. */
    private readonly indices: Uint32Array,
  ) {
    const root = Buffer.alloc(NODE_BYTES);
    nodesBackwards.read(nodesBackwards.length - NODE_BYTES, root);
    this.root = nodeFrom(root);
  }

  /** @param sortedAtOnce only a test sets it */
  static build(
    day: DayFile,
    keccak: Keccak256,
    folder: ScratchFolder,
    sortedAtOnce = SORTED_AT_ONCE,
  ): DayTreeFile {
    const nodes = folder.open();
    try {
      const indices = writeLeaves(day, nodes, { keccak, folder, sortedAtOnce });
      const pair = new Uint8Array(2 * NODE_BYTES);
      for (const both of nodes.records(2 * NODE_BYTES)) nodes.append(keccak(inOrder(both, pair)));
      return new DayTreeFile(day, nodes, indices);
    } catch (error) {
      nodes.close();
      throw error;
    }
  }

  *leaves(size: number): Generator<SealedLeaves> {
    const { indices } = this;
    const part = Buffer.alloc(size * ENTRY_BYTES);
    let place = 0;
    for (const { wallet, low } of this.day.leaves()) {
      const at = (place % size) * ENTRY_BYTES;
      part.set(wallet, at);
      part.set(low, at + WALLET_BYTES);
      place += 1;
      if (place % size !== 0 && place < indices.length) continue;
      const start = Math.floor((place - 1) / size) * size;
      const leaves = part.subarray(0, (place - start) * ENTRY_BYTES);
      yield { leaves, indices: indices.subarray(start, place) };
    }
  }

  *nodes(size: number): Generator<Buffer> {
    const { nodesBackwards: file } = this;
    for (let end = file.length; end > 0;) {
      const part = Buffer.alloc(Math.min(end, size * NODE_BYTES));
      end -= part.length;
      file.read(end, part);
      yield reversed(part);
    }
  }

  close(): void {
    this.nodesBackwards.close();
  }
}

interface Means {
  readonly keccak: Keccak256;
  readonly folder: ScratchFolder;
  readonly sortedAtOnce: number;
}

/** Writes the hashes of the leaves in ascending order. @returns the index of each leaf among the nodes */
function writeLeaves(day: DayFile, nodes: ScratchFile, means: Means): Uint32Array {
  const file = means.folder.open();
  try {
    const counts = hashLeaves(day, file, means.keccak);
    const leaves = file.length / NODE_BYTES;
    const indices = new Uint32Array(leaves);
    let index = 2 * leaves - 2;
    for (const part of partsOf(counts, leaves, means.sortedAtOnce)) {
      const { hashes, places } = hashesOf(file, part);
      for (const at of ascendingOrder(hashes)) {
        nodes.append(hashes.subarray(at * NODE_BYTES, (at + 1) * NODE_BYTES));
        indices[places[at] as number] = index;
        index -= 1;
      }
    }
    return indices;
  } finally {
    file.close();
  }
}

/** Writes the hashes in the order of the wallets. @returns how many hashes have each prefix */
function hashLeaves(day: DayFile, file: ScratchFile, keccak: Keccak256): Uint32Array {
  const encoder = new LeafEncoder(keccak);
  const counts = new Uint32Array(PREFIXES);
  const add = (wallet: Uint8Array, low: Uint8Array, next: Uint8Array): void => {
    const hash = encoder.hash(wallet, low, next);
    const prefix = prefixAt(hash, 0);
    counts[prefix] = (counts[prefix] as number) + 1;
    file.append(hash);
  };
  const wallet = new Uint8Array(WALLET_BYTES);
  const low = new Uint8Array(LOW_BYTES);
  let hasLeaf = false;
  for (const leaf of day.leaves()) {
    if (hasLeaf) add(wallet, low, leaf.wallet);
    hasLeaf = true;
    wallet.set(leaf.wallet);
    low.set(leaf.low);
  }
  add(wallet, low, wallet);
  return counts;
}

/** Parts of at most `most` hashes in ascending order; a single prefix is never divided. */
function* partsOf(counts: Uint32Array, leaves: number, most: number): Generator<Part> {
  if (leaves <= most) {
    yield { from: 0, to: PREFIXES, count: leaves };
    return;
  }
  let [from, count] = [0, 0];
  for (const [prefix, more] of counts.entries()) {
    if (count > 0 && count + more > most) {
      yield { from, to: prefix, count };
      [from, count] = [prefix, 0];
    }
    count += more;
  }
  yield { from, to: PREFIXES, count };
}

/** @param file the hashes of all leaves in the order of the wallets */
function hashesOf(file: ScratchFile, { from, to, count }: Part) {
  const hashes = new Uint8Array(count * NODE_BYTES);
  const places = new Uint32Array(count);
  let [place, found] = [0, 0];
  for (const block of file.blocks(NODE_BYTES)) {
    for (let start = 0; start < block.length; start += NODE_BYTES, place += 1) {
      const prefix = prefixAt(block, start);
      if (prefix < from || prefix >= to) continue;
      hashes.set(block.subarray(start, start + NODE_BYTES), found * NODE_BYTES);
      places[found] = place;
      found += 1;
    }
  }
  return { hashes, places };
}

function prefixAt(bytes: Uint8Array, start: number): number {
  return ((bytes[start] as number) << 8) | (bytes[start + 1] as number);
}

function reversed(nodes: Buffer): Buffer {
  const result = Buffer.alloc(nodes.length);
  for (let start = 0; start < nodes.length; start += NODE_BYTES) {
    result.set(nodes.subarray(start, start + NODE_BYTES), nodes.length - NODE_BYTES - start);
  }
  return result;
}
