import { type DayWindow } from '../day/day.js';

/** How far the index is, as far as it matters to an answer. */
export interface IndexProgress {
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
