/** Which days are to be sealed now, and the last block of each. */
import { refOf } from '#libs/chain';
import { type BlockHeader, type BlockRef, dayOf, RetryableError } from '#libs/domain';

interface SealStanding {
  /** The newest block that is indexed, final and verified. */
  readonly settled: BlockRef;
  /** The first day that is sealed; where none is, that of the first block that is indexed. */
  readonly firstDay: number;
  /** The newest day that is sealed. */
  readonly newestDay: number | null;
  /** Sealed days from this one on have to be worked out again. */
  readonly recheckFrom: number | null;
}

export interface DueDays {
  readonly from: number;
  /** The last one; below `from` where there is none. */
  readonly to: number;
}

/** Without gaps: those that have to be worked out again, then those that are not sealed yet. */
export function dueDays(standing: SealStanding): DueDays {
  const { settled, firstDay, newestDay, recheckFrom } = standing;
  const next = newestDay === null ? firstDay : newestDay + 1;
  const from = recheckFrom === null ? next : Math.min(next, Math.max(firstDay, recheckFrom));
  return { from, to: dayOf(settled.timestampSeconds) - 1 };
}

/** @returns in the order of the numbers; undefined where the node has no such block */
type ReadHeaders = (numbers: readonly bigint[]) => Promise<readonly (BlockHeader | undefined)[]>;

interface ClosingSearch {
  /** The first second that does not belong to the day any more; Unix time. */
  readonly endSeconds: number;
  /** A block dated before the end. */
  readonly from: BlockRef;
  /** A block dated at the end or after it. */
  readonly to: BlockRef;
}

/** How far from where the end is expected blocks are asked for. */
const NEAR = [-200n, -20n, -1n, 0n, 1n, 20n, 200n];
const PARTS = 8n;

/**
 * The last block dated before the end, found by asking for some headers at once and again between two of them. The one after it is dated at the end or later, and names it as its parent.
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
  // Once more together, so that both are of one node.
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

/** Where the end is expected by the time between both blocks, near it, and evenly between them; ascending. */
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
  // Two of them are never nearer than a block: with a span of 2 the block between them has to be there.
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
