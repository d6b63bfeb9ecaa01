/**
 * The Merkle tree over the roots of the days of a period, `(uint256 day, bytes32 root)` each, in the format of a StandardMerkleTree:
 * what `publishPeriod` of the SnapshotRegistry takes, and what `openDay` verifies a day against.
 */
import { type Keccak256, NODE_BYTES, type NodeHash, nodeBytes, writeAmount } from './day-leaf.js';
import { buildNodes, nodeAt, siblingsOf } from './day-tree.js';

export interface DayRoot {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  readonly root: NodeHash;
}

export class PeriodTree {
  /** @param days without a gap, the earliest first; one at least */
  constructor(
    readonly days: readonly DayRoot[],
    private readonly nodes: Uint8Array,
    private readonly indices: Uint32Array,
  ) {}

  get root(): NodeHash {
    return nodeAt(this.nodes, 0);
  }

  /** The root of a day, and the nodes that lead from it to that of the period; undefined where it is not in the period. */
  prove(day: number): (DayRoot & { readonly proof: readonly NodeHash[] }) | undefined {
    const place = this.days.findIndex((one) => one.day === day);
    const index = this.indices[place];
    const found = this.days[place];
    if (index === undefined || found === undefined) return undefined;
    return { ...found, proof: siblingsOf(index).map((node) => nodeAt(this.nodes, node)) };
  }
}

/** @param days without a gap, the earliest first; one at least */
export function buildPeriodTree(days: readonly DayRoot[], keccak: Keccak256): PeriodTree {
  const hashes = new Uint8Array(days.length * NODE_BYTES);
  const words = new Uint8Array(2 * NODE_BYTES);
  const view = new DataView(words.buffer);
  for (const [place, { day, root }] of days.entries()) {
    writeAmount(view, 0, BigInt(day));
    words.set(nodeBytes(root), NODE_BYTES);
    hashes.set(keccak(keccak(words)), place * NODE_BYTES);
  }
  const { nodes, indices } = buildNodes(hashes, keccak);
  return new PeriodTree(days, nodes, indices);
}
