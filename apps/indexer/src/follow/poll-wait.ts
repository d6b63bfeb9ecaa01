import { type BlockRef } from '#libs/domain';

/** So many blocks tell how often a new one comes. */
const BLOCKS = 8;
/** A chain whose newest block is older is not waited for by its own beat. */
const LIVE_WITHIN_MS = 60_000;
const LONGEST_MS = 15_000;

export interface PollSituation {
  readonly pollIntervalMs: number;
  /** The last look found blocks. */
  readonly hasNewBlocks: boolean;
  /** Newest blocks, ascending. */
  readonly blocks: readonly BlockRef[];
  readonly nowMs: number;
}

/**
 * How long to wait for the next block. On a live chain with a steady beat, one beat after a look that found a block, so that a quiet chain
 * costs one request a block; else the poll interval.
 */
export function pollWaitMs({ pollIntervalMs, hasNewBlocks, blocks, nowMs }: PollSituation): number {
  const newest = blocks.at(-1);
  const oldest = blocks.at(-1 - BLOCKS);
  const isLive =
    newest !== undefined && Math.abs(nowMs - newest.timestampSeconds * 1000) < LIVE_WITHIN_MS;
  if (!hasNewBlocks || !isLive || !oldest) return pollIntervalMs;
  const beatMs = ((newest.timestampSeconds - oldest.timestampSeconds) * 1000) / BLOCKS;
  return Math.max(pollIntervalMs, Math.min(LONGEST_MS, beatMs));
}
