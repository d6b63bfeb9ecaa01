import { type StakeBlock } from '#libs/devchain';
import { dayOf, SECONDS_PER_DAY } from '#libs/domain';
import { type Crowd } from './crowd.js';
import { type Random } from './random.js';

export interface HistoryOptions {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** Blocks with activity, besides one at each midnight. */
  readonly blocks: number;
  /** Empty blocks at the end, two seconds apart, so that what came before is final. */
  readonly settledBy: number;
}

/**
 * Blocks with staking activity, oldest first: at random moments, one at exactly 00:00:00 of every day (where a mistake of a
 * second would show in two days' minima), and quiet ones at the end.
 */
export function makeHistory(random: Random, crowd: Crowd, options: HistoryOptions): StakeBlock[] {
  const { fromSeconds, blocks, settledBy } = options;
  const endSeconds = options.toSeconds - 2 * settledBy;
  const times = Array.from({ length: blocks }, () => random.between(fromSeconds, endSeconds));
  for (let day = dayOf(fromSeconds) + 1; day * SECONDS_PER_DAY <= endSeconds; day++) {
    times.push(day * SECONDS_PER_DAY);
  }
  times.sort((a, b) => a - b);
  const active = times.map((seconds) => {
    const elapsed = (seconds - fromSeconds) / (endSeconds - fromSeconds);
    return { seconds, transactions: crowd.transactions(elapsed, 5) };
  });
  const quiet = Array.from({ length: settledBy }, (_, index) => ({
    seconds: endSeconds + 2 * (index + 1),
    transactions: [],
  }));
  return [...active, ...quiet];
}

/** Events in the blocks. */
export function countEvents(blocks: readonly StakeBlock[]): number {
  let events = 0;
  for (const { transactions } of blocks) {
    for (const one of transactions) events += 'kind' in one ? 1 : one.length;
  }
  return events;
}
