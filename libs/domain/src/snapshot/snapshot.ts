/** The rules of a snapshot: which days it is of, whether the index covers them, and the lowest balance of each. */
import { type DayBalance } from '../balance/balance.js';
import { dayOf, SECONDS_PER_DAY } from '../day/day.js';

/** The whole UTC days a snapshot request asks for: [firstDay, endDay), [startSeconds, endSeconds). */
export interface DayWindow {
  readonly firstDay: number;
  /** Exclusive: the day of the request, where no other was asked for. */
  readonly endDay: number;
  /** Unix seconds, 00:00:00 of the first day. */
  readonly startSeconds: number;
  /** Unix seconds, 00:00:00 of `endDay`. */
  readonly endSeconds: number;
}

/** The last `lastDays` complete UTC days before the day of the request. */
export function windowOf(requestedAtMs: number, lastDays: number): DayWindow {
  return windowBefore(dayOf(requestedAtMs / 1000), lastDays);
}

/** The `lastDays` UTC days before a day. @param endDay in days since 1970-01-01 */
export function windowBefore(endDay: number, lastDays: number): DayWindow {
  const firstDay = endDay - lastDays;
  return {
    firstDay,
    endDay,
    startSeconds: firstDay * SECONDS_PER_DAY,
    endSeconds: endDay * SECONDS_PER_DAY,
  };
}

/** How far the index is, as far as it matters to an answer. */
interface IndexProgress {
  /** Timestamp of the newest indexed block, Unix seconds. */
  readonly headSeconds: number;
  /** When the first sync was complete; absent before. */
  readonly syncedAt?: Date | undefined;
  /** Why the index stopped for good; absent while it is sound. */
  readonly haltedReason?: string | undefined;
}

/**
 * So far may a block's time be ahead of the wall clock, as clocks differ. A header dated later is false, or the clock is wrong: an index
 * that believed it would look level for as long.
 */
export const MAX_AHEAD_SECONDS = 120;

/** Why the index cannot answer for a window now. */
export type CoverageGap = 'halted' | 'not-synced' | 'lagging';

/**
 * Whether the index can answer for the window without guessing: its newest block is at or past the window's end, or it is so
 * close to the wall clock, on either side, that the standing balance holds. A halted index is never trusted, whatever it covers.
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
  if (lagSeconds < -MAX_AHEAD_SECONDS) return { reason: 'lagging' };
  if (progress.headSeconds >= window.endSeconds) return 'covered';
  return lagSeconds <= maxLagSeconds ? 'covered' : { reason: 'lagging' };
}

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
