/** Which blocks a UTC day has, by their times. */
import { dayText, SECONDS_PER_DAY } from '#libs/domain';
import { UncheckedError } from '../verify.error.js';
import { type Block } from './node-client.js';

/** The blocks from `first` up to, not including, `end`. */
export interface DayBlocks {
  readonly day: number;
  readonly first: bigint;
  readonly end: bigint;
  /** The last one dated before the day's end. */
  readonly closing: Block;
}

export type ReadBlock = (number?: bigint) => Promise<Block>;

/** @param from no block before it is looked at @throws UncheckedError where the day is not over on the chain, or over before `from` */
export async function findDayBlocks(
  day: number,
  from: bigint,
  read: ReadBlock,
): Promise<DayBlocks> {
  const start = day * SECONDS_PER_DAY;
  const end = start + SECONDS_PER_DAY;
  const newest = await read();
  if (newest.seconds < end) {
    throw new UncheckedError(
      `${dayText(day)} is not over on the chain: its newest block, ${newest.number}, is dated before the end of the day.`,
    );
  }
  const search = { low: from, high: newest.number, read };
  const after = await firstAt(end, search);
  if (after === from) {
    throw new UncheckedError(
      `Block ${from}, from which the chain is read, is dated after ${dayText(day)}.`,
    );
  }
  const closing = await read(after - 1n);
  return { day, first: await firstAt(start, { ...search, high: after }), end: after, closing };
}

/** The first block dated at this second or later; `high` is. */
async function firstAt(
  seconds: number,
  { low, high, read }: { readonly low: bigint; readonly high: bigint; readonly read: ReadBlock },
): Promise<bigint> {
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await read(middle)).seconds >= seconds) high = middle;
    else low = middle + 1n;
  }
  return high;
}
