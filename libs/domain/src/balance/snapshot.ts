/** The rules of a snapshot: its days, whether the index covers them, and the lowest balance of each day. */
import { type DayBalance } from './balance.js';
import { dayOf, SECONDS_PER_DAY } from '../values/day.js';

/** The whole UTC days of a snapshot. */
export interface DayWindow {
  readonly firstDay: number;
  /** Exclusive. By default the day of the request. */
  readonly endDay: number;
  /** 00:00:00 of `firstDay`, Unix seconds. */
  readonly startSeconds: number;
  /** 00:00:00 of `endDay`, Unix seconds. */
  readonly endSeconds: number;
}

/** The last `lastDays` complete UTC days before the day of the request. */
export function windowOf(requestedAtMs: number, lastDays: number): DayWindow {
  return windowBefore(dayOf(requestedAtMs / 1000), lastDays);
}

/** The `lastDays` UTC days before `endDay`. @param endDay in days since 1970-01-01 */
export function windowBefore(endDay: number, lastDays: number): DayWindow {
  const firstDay = endDay - lastDays;
  return {
    firstDay,
    endDay,
    startSeconds: firstDay * SECONDS_PER_DAY,
    endSeconds: endDay * SECONDS_PER_DAY,
  };
}

/** The state of the index that decides whether it can answer. */
interface IndexProgress {
  /** Timestamp of the newest indexed block, Unix seconds. */
  readonly headSeconds: number;
  /** When the first sync was completed; absent before. */
  readonly syncedAt?: Date | undefined;
  /** Why the index was halted; absent while it is not halted. */
  readonly haltedReason?: string | undefined;
}

/**
 * Seconds by which a block's timestamp may be ahead of the wall clock, because clocks differ. A later timestamp means a
 * false header or a wrong clock, and an index that trusted it would look current until the clock reaches it.
 */
export const MAX_AHEAD_SECONDS = 120;

/** Why the index cannot answer for a window now. */
export type CoverageGap = 'halted' | 'not-synced' | 'lagging' | 'ahead';

/**
 * Whether the index can answer for the window without guessing. Its newest block must be at or past the window's end,
 * or so close to the wall clock, before or after it, that the current balances count as those at the window's end. A
 * halted index never answers.
 */
export function coverage(
  progress: IndexProgress,
  window: Pick<DayWindow, 'endSeconds'>,
  nowMs: number,
  maxLagSeconds: number,
): 'covered' | { readonly reason: CoverageGap } {
  if (progress.haltedReason !== undefined) return { reason: 'halted' };
  if (progress.syncedAt === undefined) return { reason: 'not-synced' };
  const lagSeconds = nowMs / 1000 - progress.headSeconds;
  if (lagSeconds < -MAX_AHEAD_SECONDS) return { reason: 'ahead' };
  if (progress.headSeconds >= window.endSeconds) return 'covered';
  return lagSeconds <= maxLagSeconds ? 'covered' : { reason: 'lagging' };
}

/** The lowest balance of one UTC day, including the balance at 00:00. */
export interface DailyMinimum {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** In the token's smallest unit. */
  readonly minimum: bigint;
}

/**
 * The minimum of each day of the window, oldest first. A day without a row has the closing balance of the newest
 * earlier row, or 0 where there is none.
 * @param rows of one wallet, in any order: the rows in the window, and the newest row before it if there is one
 */
export function dailyMinima(
  rows: readonly DayBalance[],
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
