/** Determines which days are to be sealed now, and the closing block of each: the day's last block. */
import { refOf } from '#libs/chain';
import { type BlockHeader, type BlockRef, dayOf, RetryableError } from '#libs/domain';

interface SealStanding {
  /** The newest block that is indexed, final and verified. */
  readonly settled: BlockRef;
  /** The day of the first indexed block, or the first sealed day if that is earlier. */
  readonly firstDay: number;
  readonly newestDay: number | null;
  /** First sealed day that has to be recomputed, together with all sealed days after it. */
  readonly recheckFrom: number | null;
}

export interface DueDays {
  readonly from: number;
  /** The last due day; below `from` where no day is due. */
  readonly to: number;
}

/** The due days, as one range without gaps: sealed days to be recomputed, followed by days not sealed yet. */
export function dueDays(standing: SealStanding): DueDays {
  const { settled, firstDay, newestDay, recheckFrom } = standing;
  const next = newestDay === null ? firstDay : newestDay + 1;
  const from = recheckFrom === null ? next : Math.min(next, Math.max(firstDay, recheckFrom));
  return { from, to: dayOf(settled.timestampSeconds) - 1 };
}

/** @returns headers in the order of `numbers`; undefined where the node does not have the block */
type ReadHeaders = (numbers: readonly bigint[]) => Promise<readonly (BlockHeader | undefined)[]>;

interface ClosingSearch {
  /** First second after the day; Unix time. */
  readonly endSeconds: number;
  /** A block dated before `endSeconds`. */
  readonly from: BlockRef;
  /** A block dated at `endSeconds` or later. */
  readonly to: BlockRef;
}

/** Distances, in blocks, from the expected end of the day at which headers are read. */
const NEAR = [-200n, -20n, -1n, 0n, 1n, 20n, 200n];
const PARTS = 8n;

/**
 * Finds the last block dated before the day's end. Each step reads several headers at once and continues between two of
 * them. The block after the closing block must be dated at the end or later and name the closing block as its parent.
 * @throws RetryableError where nodes contradict each other, or a block is missing
 */
export async function findClosingBlock(
  search: ClosingSearch,
  headersAt: ReadHeaders,
): Promise<BlockRef> {
  let { from, to } = search;
  while (to.number - from.number > 1n) {
    const numbers = numbersBetween({ ...search, from, to });
    const headers = required(numbers, await headersAt(numbers));
    const next = headers.find(({ timestampSeconds }) => timestampSeconds >= search.endSeconds);
    const last = headers.findLast(
      (header) =>
        header.timestampSeconds < search.endSeconds &&
        (next === undefined || header.number < next.number),
    );
    from = last ?? from;
    to = next ?? to;
  }
  // Reads both blocks once more in one request, so that both come from one node.
  const both = [from.number, to.number];
  const [closing, following] = required(both, await headersAt(both));
  const isEnd =
    closing !== undefined &&
    following?.parentHash === closing.hash &&
    closing.timestampSeconds < search.endSeconds &&
    following.timestampSeconds >= search.endSeconds;
  if (!isEnd) {
    throw new RetryableError(
      'CLOSING_BLOCK_UNCLEAR',
      `Blocks ${both.join(' and ')} do not follow each other across the end of the day, as a node told before; it is asked again`,
    );
  }
  return refOf(closing);
}

/**
 * Block numbers to read next, ascending: around the position at which the block times predict the day's end, and evenly
 * spaced between both blocks.
 */
function numbersBetween({ endSeconds, from, to }: ClosingSearch): bigint[] {
  const span = to.number - from.number;
  const seconds = BigInt(to.timestampSeconds - from.timestampSeconds);
  const expected =
    from.number + (span * BigInt(endSeconds - from.timestampSeconds)) / (seconds || 1n);
  const even = Array.from({ length: Number(PARTS) - 1 }, (_, part) => {
    return from.number + (span * BigInt(part + 1)) / PARTS;
  });
  const near = NEAR.map((distance) => expected + distance);
  const inside = [...near, ...even].filter((number) => number > from.number && number < to.number);
  // Always includes the block after `from`, so that each span of at least 2 blocks has a block to read.
  return [...new Set([...inside, from.number + 1n])].sort((a, b) => (a < b ? -1 : 1));
}

function required(
  numbers: readonly bigint[],
  headers: readonly (BlockHeader | undefined)[],
): BlockHeader[] {
  return numbers.map((number, place) => {
    const header = headers[place];
    if (header !== undefined) return header;
    throw new RetryableError(
      'FINAL_BLOCK_MISSING',
      `A node does not have the final block ${number}; it is asked again`,
    );
  });
}
