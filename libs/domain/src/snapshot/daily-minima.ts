import { type BalanceDay } from '../balance/balance.js';
import { type DayWindow } from '../day/day.js';

/** The lowest balance of one UTC day, the balance carried in at 00:00 included. */
export interface DailyMinimum {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** In the token's smallest unit. */
  readonly minimum: bigint;
}

/**
 * The minimum of every day of the window, oldest first, one element for each day. A day without a row keeps the closing
 * balance of the row before it; before the first row it is 0.
 * @param rows of one wallet, in any order: those in the window, and the newest one before it where there is one
 */
export function dailyMinima(
  rows: readonly Pick<BalanceDay, 'day' | 'low' | 'closing'>[],
  window: Pick<DayWindow, 'firstDay' | 'endDay'>,
): DailyMinimum[] {
  const ascending = rows.toSorted((a, b) => a.day - b.day);
  const minima: DailyMinimum[] = [];
  let next = 0;
  let standing = 0n;
  for (let row = ascending[next]; row && row.day < window.firstDay; row = ascending[++next]) {
    standing = row.closing;
  }
  for (let day = window.firstDay; day < window.endDay; day++) {
    const row = ascending[next];
    if (row?.day !== day) {
      minima.push({ day, minimum: standing });
      continue;
    }
    const { low, closing } = row;
    minima.push({ day, minimum: low !== null && low < closing ? low : closing });
    standing = closing;
    next++;
  }
  return minima;
}
