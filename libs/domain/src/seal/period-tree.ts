/**
 * The Merkle tree over the roots of the days of a period, with leaves `(uint256 day, bytes32 root)`, in the format of a
 * StandardMerkleTree. `publishPeriod` of the SnapshotRegistry stores its root, and `openDay` verifies the root of a day
 * against it.
 */
import { type Keccak256, NODE_BYTES, type NodeHash, nodeBytes, writeAmount } from './day-leaf.js';
import { buildNodes, nodeAt, siblingsOf } from './day-tree.js';

export interface DayRoot {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  readonly root: NodeHash;
}

export class PeriodTree {
  /** @param days at least one, without a gap, the earliest first */
  constructor(
    readonly days: readonly DayRoot[],
    private readonly nodes: Uint8Array,
    private readonly indices: Uint32Array,
  ) {}

  get root(): NodeHash {
    return nodeAt(this.nodes, 0);
  }

  /**
   * The root of a day, and the nodes of its proof up to the root of the period; undefined for a day outside the period.
   */
  prove(day: number): (DayRoot & { readonly proof: readonly NodeHash[] }) | undefined {
    const place = this.days.findIndex((one) => one.day === day);
    const index = this.indices[place];
    const found = this.days[place];
    if (index === undefined || found === undefined) return undefined;
    return { ...found, proof: siblingsOf(index).map((node) => nodeAt(this.nodes, node)) };
  }
}

/** @param days at least one, without a gap, the earliest first */
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
