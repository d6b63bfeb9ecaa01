/** Compares the rows of wallets in the index with the rows that the chain gives, up to a final block. */
import { type ChainReader, WALLETS_AT_ONCE } from '#libs/chain';
import { type Database, IndexStore, RepairStore, walletPages } from '#libs/db';
import {
  type Address,
  type BlockRef,
  type CorrectedDays,
  correctedDays,
  dayOf,
  compareRows,
  isSame,
  NO_ROWS,
  PermanentError,
  type RowDifference,
  type WalletRows,
} from '#libs/domain';
import { type ChainHistory } from './chain-history.js';

export interface WrongWallet {
  readonly wallet: Address;
  readonly correct: WalletRows;
  readonly difference: RowDifference;
  readonly days: readonly CorrectedDays[];
}

interface ComparisonQuestion {
  /** The database of the stake set. */
  readonly database: Database;
  readonly history: ChainHistory;
  readonly block: BlockRef;
  readonly onProgress: (said: string) => void;
}

const PAGE = 500;

export async function findWrongWallets(
  question: ComparisonQuestion,
  wallets: readonly Address[] | 'all',
): Promise<WrongWallet[]> {
  const wrong: WrongWallet[] = [];
  let compared = 0;
  for await (const page of pagesOf(question, wallets)) {
    wrong.push(...(await comparePage(question, page)));
    compared += page.length;
    question.onProgress(`${compared} wallets compared, ${wrong.length} differ`);
  }
  return wrong;
}

/** All wallets: those of the index page by page, then those that only the chain has. */
async function* pagesOf(
  { database, history, block }: ComparisonQuestion,
  wallets: readonly Address[] | 'all',
): AsyncGenerator<readonly Address[]> {
  if (wallets !== 'all') {
    yield* chunks(wallets);
    return;
  }
  const index = new IndexStore(database);
  const missing = new Set(history.wallets);
  for await (const page of walletPages(index, { block: block.number, limit: PAGE })) {
    const indexed = page.map(({ wallet }) => wallet);
    for (const wallet of indexed) missing.delete(wallet);
    yield indexed;
  }
  yield* chunks([...missing]);
}

function* chunks(wallets: readonly Address[]): Generator<readonly Address[]> {
  for (let start = 0; start < wallets.length; start += PAGE) {
    yield wallets.slice(start, start + PAGE);
  }
}

async function comparePage(
  { database, history, block }: ComparisonQuestion,
  page: readonly Address[],
): Promise<WrongWallet[]> {
  const all = await new RepairStore(database).storedRows(page, block);
  return page.flatMap((wallet) => {
    const correct = history.rowsOf(wallet);
    const { upToDay = Infinity, ...stored } = all.get(wallet) ?? { ...NO_ROWS, upToDay: undefined };
    const comparable = { ...correct, days: correct.days.filter(({ day }) => day <= upToDay) };
    const difference = compareRows(stored, comparable);
    if (isSame(difference)) return [];
    const endDay = Math.min(dayOf(block.timestampSeconds), upToDay) + 1;
    const days = correctedDays(wallet, { stored, correct: comparable }, endDay);
    return [{ wallet, correct, difference, days }];
  });
}

/**
 * Requires that the contract itself reports what the events add up to: its total, and the balances of the wallets that
 * would be repaired. What the contract or the endpoints do not report is not compared.
 * @throws PermanentError HISTORY_DIFFERS, AllEndpointsFailedError
 */
export async function requireContractAgrees(
  reader: ChainReader,
  history: ChainHistory,
  { block, wallets }: { readonly block: BlockRef; readonly wallets: readonly Address[] },
): Promise<void> {
  let total = await reader.stakeTotal(block);
  if (total !== undefined && total !== history.total && (await reader.findsZeroHolding(block))) {
    total = await reader.stakeTotal(block);
  }
  const isOther = total !== undefined && total !== history.total;
  // Some contracts leave the zero address out of their total themselves.
  if (isOther && (await reader.totalWithZero(block))?.total !== history.total) {
    throw differs(block, `all stakes add up to ${history.total}, and the contract says ${total}`);
  }
  for (let start = 0; start < wallets.length; start += WALLETS_AT_ONCE) {
    const some = wallets.slice(start, start + WALLETS_AT_ONCE);
    const balances = await reader.stakeBalances(some, block);
    for (const [place, balance] of (balances ?? []).entries()) {
      const wallet = some[place] as Address;
      const folded = history.rowsOf(wallet).changes.at(-1)?.balance ?? 0n;
      if (folded === balance) continue;
      throw differs(block, `${wallet} has ${folded}, and the contract says ${balance}`);
    }
  }
}

function differs({ number }: BlockRef, what: string): PermanentError {
  return new PermanentError(
    'HISTORY_DIFFERS',
    `By the events that were read up to block ${number}, ${what}. Nothing was changed: the endpoints or STAKE_EVENTS leave out events.`,
  );
}
