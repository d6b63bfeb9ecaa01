/** Trees of sealed days whose lists are not kept any more: worked out from the index again, and kept while there is room. */
import { LRUCache } from 'lru-cache';
import { type WalletDayBytes } from '#libs/db';
import {
  type Address,
  buildDayTree,
  type DayLeaf,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  type NodeHash,
} from '#libs/domain';

/** A sealed day. */
export interface SealedTree {
  readonly stakeSet: string;
  readonly day: number;
  readonly revision: number;
  readonly root: NodeHash;
  /** How many have a low above zero. */
  readonly wallets: number;
}

/** `busy`: the tree of another day is being worked out; `differs`: the index does not give the root of this one. */
export type TreeProof =
  | { readonly kind: 'proof'; readonly leaf: DayLeaf; readonly proof: readonly NodeHash[] }
  | { readonly kind: 'busy' | 'differs' };

/** All wallets that ever staked, ascending, with their lows on the day. */
export type ReadLows = (sealed: SealedTree) => AsyncIterable<WalletDayBytes>;

/** Of a leaf: the list, the nodes, its place among them. */
const KEPT_BYTES = 120;
/** Beside these its hash, its rank, and what sorting takes. */
const BUILT_BYTES = 180;
/** A day that differs is looked at again after so long: its rows may have been mended. */
const DIFFERS_MS = 10 * 60_000;
const MAX_DIFFERING = 100;

/** What a tree takes while it is being made. */
export function bytesToBuild({ wallets }: Pick<SealedTree, 'wallets'>): number {
  return (wallets + 2) * BUILT_BYTES;
}

export class DayTrees {
  private readonly kept: LRUCache<string, DayTree>;
  private readonly differing = new LRUCache<string, true>({ max: MAX_DIFFERING, ttl: DIFFERS_MS });
  private building:
    { readonly key: string; readonly tree: Promise<DayTree | undefined> } | undefined;

  /** @param maxBytes of what is kept and being made, together */
  constructor(
    private readonly readLows: ReadLows,
    private readonly keccak: Keccak256,
    private readonly maxBytes: number,
  ) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /** One tree at a time is worked out. @throws what `readLows` throws */
  async prove(sealed: SealedTree, wallet: Address): Promise<TreeProof> {
    const key = [sealed.stakeSet, sealed.day, sealed.revision, sealed.root].join(' ');
    if (this.differing.has(key)) return { kind: 'differs' };
    const tree = this.kept.get(key);
    if (tree !== undefined) return { kind: 'proof', ...tree.prove(wallet) };
    if (this.building !== undefined && this.building.key !== key) return { kind: 'busy' };
    this.building ??= { key, tree: this.build(key, sealed) };
    const built = await this.building.tree;
    return built === undefined ? { kind: 'differs' } : { kind: 'proof', ...built.prove(wallet) };
  }

  private async build(key: string, sealed: SealedTree): Promise<DayTree | undefined> {
    try {
      this.makeRoom(bytesToBuild(sealed));
      const tree = await this.treeOf(sealed);
      if (tree === undefined) this.differing.set(key, true);
      else this.kept.set(key, tree);
      return tree;
    } finally {
      this.building = undefined;
    }
  }

  /** @returns undefined where it does not have the root */
  private async treeOf(sealed: SealedTree): Promise<DayTree | undefined> {
    const lows = new DayListBuilder(sealed.wallets + 1);
    let found = 0;
    for await (const { wallet, low } of this.readLows(sealed)) {
      if (low > 0n) found += 1;
      // More than were sealed: the rest need not be read.
      if (found > sealed.wallets) return undefined;
      lows.add(wallet, low);
    }
    if (found < sealed.wallets) return undefined;
    const tree = buildDayTree(lows.list(), this.keccak);
    return tree.root === sealed.root ? tree : undefined;
  }

  private makeRoom(bytes: number): void {
    while (this.kept.size > 0 && this.kept.calculatedSize + bytes > this.maxBytes) this.kept.pop();
  }
}

function bytesOf({ leaves }: DayTree): number {
  return leaves.length * KEPT_BYTES;
}
