/**
 * Trees of sealed days whose lists are no longer stored. The trees are rebuilt from the index and cached while there is
 * room.
 */
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
  type PartnerId,
} from '#libs/domain';
import { type Clock, TtlCache } from '#libs/platform';

/** The facts of a sealed day that identify its tree. */
export interface SealedTree {
  readonly stakeSet: string;
  readonly day: number;
  readonly revision: number;
  readonly root: NodeHash;
  /** Number of wallets with a low-water mark above zero. */
  readonly wallets: number;
}

/** `busy`: the tree of another day is being built; `differs`: the rows of the index no longer give the sealed root. */
export type TreeProof =
  | { readonly kind: 'proof'; readonly leaf: DayLeaf; readonly proof: readonly NodeHash[] }
  | { readonly kind: 'busy' | 'differs' };

/** Reads all wallets that ever staked, in ascending order, with their low-water marks of the day. */
export type ReadLows = (sealed: SealedTree) => AsyncIterable<WalletDayBytes>;

/** Bytes per leaf of a cached tree: list, nodes, and the leaf's position. */
const KEPT_BYTES = 120;
/** Bytes per leaf while a tree is built. In addition to a cached tree: leaf hash, rank, and buffers for sorting. */
const BUILT_BYTES = 180;
/** Time after which a day that differs is tried again, in milliseconds: its rows may have been repaired. */
const DIFFERS_MS = 10 * 60_000;
const MAX_DIFFERING = 100;

/** Memory that building a tree takes, in bytes. */
export function bytesToBuild({ wallets }: Pick<SealedTree, 'wallets'>): number {
  return (wallets + 2) * BUILT_BYTES;
}

export class DayTrees {
  private readonly kept: LRUCache<string, DayTree>;
  private readonly mismatched: TtlCache<string, true>;
  /** The day that each partner could not have yet, in the order of their requests. */
  private readonly turns = new Map<PartnerId, SealedTree>();
  private building:
    { readonly key: string; readonly tree: Promise<DayTree | undefined> } | undefined;

  /** @param maxBytes limit of the cached trees together with the tree that is being built */
  constructor(
    private readonly readLows: ReadLows,
    private readonly keccak: Keccak256,
    private readonly maxBytes: number,
    clock: Clock,
  ) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
    this.mismatched = new TtlCache({ clock, ttlMs: DIFFERS_MS, max: MAX_DIFFERING });
  }

  /**
   * Proves a wallet's low-water mark. Builds one tree at a time, and afterwards that of the partner who has waited
   * longest.
   * @throws the errors of `readLows`
   */
  async prove(sealed: SealedTree, wallet: Address, partner: PartnerId): Promise<TreeProof> {
    const key = keyOf(sealed);
    if (this.mismatched.get(key)) return { kind: 'differs' };
    const tree = this.kept.get(key);
    if (tree !== undefined) return { kind: 'proof', ...tree.prove(wallet) };
    if (this.building !== undefined && this.building.key !== key) {
      if (!this.turns.has(partner)) this.turns.set(partner, sealed);
      return { kind: 'busy' };
    }
    this.building ??= { key, tree: this.build(key, sealed) };
    const built = await this.building.tree;
    return built === undefined ? { kind: 'differs' } : { kind: 'proof', ...built.prove(wallet) };
  }

  private async build(key: string, sealed: SealedTree): Promise<DayTree | undefined> {
    try {
      this.makeRoom(bytesToBuild(sealed));
      const tree = await this.treeOf(sealed);
      if (tree === undefined) this.mismatched.set(key, true);
      else this.kept.set(key, tree);
      return tree;
    } finally {
      this.building = undefined;
      this.buildNext(sealed);
    }
  }

  /** Where there is no room for two trees, the newest one stays for those who wait for it. */
  private buildNext(newest: SealedTree): void {
    for (const [partner, sealed] of this.turns) {
      this.turns.delete(partner);
      const key = keyOf(sealed);
      const isKnown = this.kept.has(key) || this.mismatched.get(key) === true;
      if (isKnown || bytesToBuild(newest) + bytesToBuild(sealed) > this.maxBytes) continue;
      const tree = this.build(key, sealed);
      // No request waits for this tree. The next one for the day builds it again, and reports the error.
      tree.catch(() => undefined);
      this.building = { key, tree };
      return;
    }
  }

  /** @returns undefined where the tree does not have the sealed root */
  private async treeOf(sealed: SealedTree): Promise<DayTree | undefined> {
    const lows = new DayListBuilder(sealed.wallets + 1);
    let found = 0;
    for await (const { wallet, low } of this.readLows(sealed)) {
      if (low > 0n) found += 1;
      // With more wallets than were sealed, the tree cannot have the sealed root.
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

function keyOf({ stakeSet, day, revision, root }: SealedTree): string {
  return [stakeSet, day, revision, root].join(' ');
}

function bytesOf({ leaves }: DayTree): number {
  return leaves.length * KEPT_BYTES;
}
