/** The stored rows of a wallet beside the rows that the chain gives: what differs, and on which days an amount does. */
import { type Address } from '../values/address.js';
import { dailyMinima } from './snapshot.js';
import { type BalanceChange, type BalanceDay, type BlockDeltas } from './balance.js';
import { foldBlocks } from './fold-blocks.js';

export interface WalletRows {
  /** In block order. */
  readonly changes: readonly BalanceChange[];
  /** In the order of days. */
  readonly days: readonly BalanceDay[];
}

export const NO_ROWS: WalletRows = { changes: [], days: [] };

/** The rows of one wallet, from all blocks with events of it. @throws NegativeBalanceError */
export function rowsOf(blocks: readonly BlockDeltas[]): WalletRows {
  const { changes, days } = foldBlocks(new Map(), blocks);
  return { changes, days };
}

/** A row that is wrong is in both: as it is stored, and as it has to be. */
export interface RowDifference {
  readonly remove: WalletRows;
  readonly add: WalletRows;
}

export function compareRows(stored: WalletRows, correct: WalletRows): RowDifference {
  const isChangeIn = membersOf(correct.changes, changeKey);
  const isDayIn = membersOf(correct.days, dayKey);
  const isChangeStored = membersOf(stored.changes, changeKey);
  const isDayStored = membersOf(stored.days, dayKey);
  return {
    remove: {
      changes: stored.changes.filter((change) => !isChangeIn(change)),
      days: stored.days.filter((day) => !isDayIn(day)),
    },
    add: {
      changes: correct.changes.filter((change) => !isChangeStored(change)),
      days: correct.days.filter((day) => !isDayStored(day)),
    },
  };
}

export function isSame({ remove, add }: RowDifference): boolean {
  return [remove, add].every(({ changes, days }) => changes.length === 0 && days.length === 0);
}

/** Days in a row on which a wallet's amount was wrong in the same way. Amounts in the token's smallest unit. */
export interface CorrectedDays {
  readonly wallet: Address;
  readonly firstDay: number;
  readonly lastDay: number;
  readonly stored: bigint;
  readonly correct: bigint;
}

/**
 * The days before `endDay` whose amount (the lowest balance of the day) differs, also those without a row of their own.
 */
export function correctedDays(
  wallet: Address,
  { stored, correct }: { readonly stored: WalletRows; readonly correct: WalletRows },
  endDay: number,
): CorrectedDays[] {
  const first = Math.min(...[...stored.days, ...correct.days].map(({ day }) => day), endDay);
  const window = { firstDay: first, endDay };
  const right = dailyMinima(correct.days, window);
  const found: CorrectedDays[] = [];
  for (const [place, { day, minimum }] of dailyMinima(stored.days, window).entries()) {
    const amount = right[place]?.minimum ?? 0n;
    if (amount === minimum) continue;
    const last = found.at(-1);
    const goesOn = last?.lastDay === day - 1 && last.stored === minimum && last.correct === amount;
    if (goesOn) found[found.length - 1] = { ...last, lastDay: day };
    else found.push({ wallet, firstDay: day, lastDay: day, stored: minimum, correct: amount });
  }
  return found;
}

function membersOf<T>(rows: readonly T[], keyOf: (row: T) => string): (row: T) => boolean {
  const keys = new Set(rows.map(keyOf));
  return (row) => keys.has(keyOf(row));
}

function changeKey({ blockNumber, timestampSeconds, balance }: BalanceChange): string {
  return `${blockNumber} ${timestampSeconds} ${balance}`;
}

function dayKey({ day, low, closing }: BalanceDay): string {
  return `${day} ${low ?? ''} ${closing}`;
}
