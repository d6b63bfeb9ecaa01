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

type ReadBlock = (number?: bigint) => Promise<Block>;

interface DaySearch {
  /** No block before it is read. */
  readonly from: bigint;
  /** No block of the day is before it; that one, or a later one. */
  readonly notBefore: bigint;
  readonly read: ReadBlock;
}

/** A day may have no block at all. @throws UncheckedError where the day is not over on the chain, or over before `from` */
export async function findDayBlocks(
  day: number,
  { from, notBefore, read }: DaySearch,
): Promise<DayBlocks> {
  const start = day * SECONDS_PER_DAY;
  const end = start + SECONDS_PER_DAY;
  const newest = await read();
  if (newest.seconds < end) {
    throw new UncheckedError(
      `${dayText(day)} is not over on the chain: its newest block, ${newest.number}, is dated before the end of the day.`,
    );
  }
  const after = await firstAt(end, { low: notBefore, high: newest.number, read });
  if (after <= from) {
    throw new UncheckedError(
      `Block ${from}, from which the chain is read, is dated after ${dayText(day)}.`,
    );
  }
  const first = await firstAt(start, { low: notBefore, high: after, read });
  return { day, first, end: after, closing: await read(after - 1n) };
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
