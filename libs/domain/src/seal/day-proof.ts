/** Verifies what a proof of a sealed day says about a wallet. */
import { type Address } from '../values/address.js';
import {
  compareBytes,
  type DayLeaf,
  type Keccak256,
  LeafEncoder,
  NODE_BYTES,
  type NodeHash,
  nodeBytes,
  nodeFrom,
} from './day-leaf.js';

export interface DayProof {
  readonly root: NodeHash;
  /** The wallet's own leaf, or the leaf that encloses the wallet. */
  readonly leaf: DayLeaf;
  /** Sibling nodes, from the sibling of the leaf upwards. */
  readonly proof: readonly NodeHash[];
}

/** Longest accepted proof, in nodes; no tree is that high. */
const MOST_STEPS = 64;

/**
 * The lowest balance of the wallet on the day; 0 where the leaf encloses the wallet, because then the wallet has no
 * leaf of its own.
 * @returns undefined where the proof does not lead to the root, or the leaf does not cover the wallet
 */
export function provenLow(
  wallet: Address,
  { root, leaf, proof }: DayProof,
  keccak: Keccak256,
): bigint | undefined {
  const isOwn = leaf.wallet === wallet;
  const encloses = leaf.wallet < wallet && wallet < leaf.next;
  if (!(isOwn || encloses) || proof.length > MOST_STEPS) return undefined;
  if (rootOf(leaf, proof, keccak) !== root) return undefined;
  return isOwn ? leaf.low : 0n;
}

export function rootOf(leaf: DayLeaf, proof: readonly NodeHash[], keccak: Keccak256): NodeHash {
  let node = new LeafEncoder(keccak).hashOf(leaf);
  const pair = new Uint8Array(2 * NODE_BYTES);
  for (const sibling of proof) {
    const other = nodeBytes(sibling);
    const [lower, upper] = compareBytes(node, other) <= 0 ? [node, other] : [other, node];
    pair.set(lower, 0);
    pair.set(upper, NODE_BYTES);
    node = keccak(pair);
  }
  return nodeFrom(node);
}
