/** Compares all balances of two indexes at one final block. */
import {
  type Database,
  type IndexState,
  IndexStore,
  type WalletBalance,
  walletPages,
} from '#libs/db';
import { type Address } from '#libs/domain';

export interface IndexDifference {
  readonly wallet: Address;
  /** In the token's smallest unit; 0 for a wallet that an index does not have. */
  readonly current: bigint;
  readonly next: bigint;
}

export interface IndexComparison {
  readonly block: bigint;
  /** Wallets of either index. */
  readonly wallets: number;
  readonly differences: number;
  /** The first differences, by address. */
  readonly first: readonly IndexDifference[];
}

const MOST_SHOWN = 20;
const PAGE = 5000;

/** @returns undefined where one of the indexes has no final block */
export async function compareIndexes(
  { current, next }: { readonly current: Database; readonly next: Database },
  onProgress: (said: string) => void,
): Promise<IndexComparison | undefined> {
  const states = await Promise.all([current, next].map((one) => new IndexStore(one).state()));
  const blocks = states.map(finalNumber);
  const [ofCurrent, ofNext] = blocks;
  if (ofCurrent === undefined || ofNext === undefined) return undefined;
  const block = ofCurrent < ofNext ? ofCurrent : ofNext;
  const first: IndexDifference[] = [];
  let [wallets, differences] = [0, 0];
  for await (const pair of pairs(walletsOf(current, block), walletsOf(next, block))) {
    wallets += 1;
    if (wallets % PAGE === 0) onProgress(`Comparing: ${wallets} wallets`);
    if (pair.current === pair.next) continue;
    differences += 1;
    if (first.length < MOST_SHOWN) first.push(pair);
  }
  return { block, wallets, differences, first };
}

function finalNumber(state: IndexState | undefined): bigint | undefined {
  if (state?.finalised === undefined) return undefined;
  const { head, finalised } = state;
  return finalised.number < head.number ? finalised.number : head.number;
}

async function* walletsOf(database: Database, block: bigint): AsyncGenerator<WalletBalance> {
  const index = new IndexStore(database);
  for await (const page of walletPages(index, { block, limit: PAGE })) yield* page;
}

/** The wallets of both sequences, which are ordered by address, with their two balances. */
async function* pairs(
  currents: AsyncGenerator<WalletBalance>,
  nexts: AsyncGenerator<WalletBalance>,
): AsyncGenerator<IndexDifference> {
  let [current, next] = await Promise.all([currents.next(), nexts.next()]);
  while (current.done !== true || next.done !== true) {
    const a = current.done === true ? undefined : current.value;
    const b = next.done === true ? undefined : next.value;
    const isCurrent = a !== undefined && (b === undefined || a.wallet <= b.wallet);
    const isNext = b !== undefined && (a === undefined || b.wallet <= a.wallet);
    yield {
      wallet: (isCurrent ? a.wallet : b?.wallet) as Address,
      current: isCurrent ? a.balance : 0n,
      next: isNext ? b.balance : 0n,
    };
    if (isCurrent) current = await currents.next();
    if (isNext) next = await nexts.next();
  }
}
