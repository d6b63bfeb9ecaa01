import { type Database, type IndexBatch, IndexStore, type InitialIndexState } from '#libs/db';
import {
  type Address,
  type BalanceDay,
  type BlockDeltas,
  type BlockHash,
  type BlockRef,
  foldBlocks,
  type FoldedBlocks,
} from '#libs/domain';

/** A wallet address made from a small number. */
export function aWallet(ordinal: number): Address {
  return `0x${'a11ce'.repeat(6)}${ordinal.toString(16).padStart(10, '0')}` as Address;
}

/** A block whose hash follows from its number and branch. By default it comes 12 seconds after the block before it. */
export function aBlock(
  number: number,
  timestampSeconds = 1_700_000_000 + number * 12,
  branch = 0,
): BlockRef {
  const digits = number.toString(16).padStart(16, '0');
  const hash = `0x${branch.toString(16).padStart(48, '0')}${digits}` as BlockHash;
  return { number: BigInt(number), hash, timestampSeconds };
}

/**
 * Rows to commit as they are, whether or not they agree with each other or with the index. No day has a row yet.
 * @param total by how much the sum of all balances changes
 */
export function aFold({
  total = 0n,
  changes = [],
  days = [],
}: {
  readonly total?: bigint;
  readonly changes?: FoldedBlocks['changes'];
  readonly days?: readonly BalanceDay[];
}): FoldedBlocks {
  const [last] = days.map(({ day }) => day).sort((a, b) => b - a);
  return {
    changes,
    days: days.map((day) => ({ ...day, hasRow: false })),
    wallets: new Map(),
    totalDelta: total,
    dayDeltas: new Map(last === undefined ? [] : [[last, total]]),
  };
}

export function anInitialIndex(overrides: Partial<InitialIndexState> = {}): InitialIndexState {
  return {
    fingerprint: 'sample',
    settings: { events: 'staked-withdrawn' },
    chainId: 31_337,
    stakeContract: aWallet(0xa1),
    tokenContract: aWallet(0xa2),
    tokenSymbol: 'LOW',
    tokenDecimals: 18,
    head: aBlock(0),
    ...overrides,
  };
}

/**
 * An index of this history, written in one commit, and the lead over it.
 * @param change of that commit: by default it begins at `aBlock(0)` and ends with the last block of the history
 */
export async function anIndexOf(
  database: Database,
  history: readonly BlockDeltas[],
  change: Partial<IndexBatch> = {},
) {
  const store = new IndexStore(database);
  const { previousHead = aBlock(0) } = change;
  await store.create(anInitialIndex({ head: previousHead }));
  const fence = await store.takeLead();
  const folded = foldBlocks(new Map(), history);
  const last = history.at(-1);
  const head = aBlock(Number(last?.blockNumber ?? 0n), last?.timestampSeconds);
  const batch = { fence, previousHead, head, folded, blocks: [], ...change };
  await store.commit(batch);
  return { store, fence, folded, head: batch.head };
}
