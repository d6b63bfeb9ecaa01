/** Determines which days are to be sealed now, and the closing block of each: the day's last block. */
import { accepted, type ChainReader, Quorum, refOf, type Statement } from '#libs/chain';
import {
  type BlockHeader,
  type BlockRef,
  dayOf,
  dayText,
  isSameBlock,
  RetryableError,
} from '#libs/domain';
import { type Witnesses } from '../vouch/witnesses.js';

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

const MISSING = 'FINAL_BLOCK_MISSING';
const UNCLEAR = 'CLOSING_BLOCK_UNCLEAR';

/**
 * Finds a day's closing block so that two providers tell it alike. One provider is enough if there is no other, or if
 * the other one is out and the verification does not require two.
 */
export class ClosingBlocks {
  constructor(
    private readonly reader: Pick<ChainReader, 'endpoints' | 'headers'>,
    private readonly witnesses: Pick<Witnesses, 'hasOtherProvider' | 'mustBeTwo'>,
  ) {}

  /** @throws RetryableError if providers contradict each other, a block is missing, or two providers must answer */
  async find(search: ClosingSearch): Promise<BlockRef> {
    const { hasOtherProvider, mustBeTwo } = this.witnesses;
    let guess: BlockRef | undefined;
    let failure: unknown;
    const said = await new Quorum(this.reader.endpoints).ask(async (options) => {
      let endpoint = '';
      const saidBy = (name: string): void => void (endpoint = name);
      const read: ReadHeaders = (numbers) => this.reader.headers(numbers, { ...options, saidBy });
      try {
        const value = await findClosingBlock(search, read, guess);
        guess ??= value;
        return { endpoint, value };
      } catch (error) {
        // A provider that does not have the blocks must not stop the other ones.
        if (!isUnfound(error)) throw error;
        failure = error;
        return { endpoint, value: undefined };
      }
    }, isSameBlock);
    if (said.length === 0) throw failure;
    const closing = accepted(said, isSameBlock);
    const isEnough = said.length > 1 || !hasOtherProvider || !mustBeTwo;
    if (closing && isEnough) return closing.value;
    const advice =
      said.length === 1
        ? 'no other provider could say, and two must agree: it is asked again'
        : 'find out which provider is wrong and take it out of RPC_URLS';
    throw new RetryableError(
      'PROVIDERS_DISAGREE',
      `The closing block of ${dayText(dayOf(search.endSeconds) - 1)} is ${textsOf(said).join(', and ')}; ${advice}.`,
    );
  }
}

function isUnfound(error: unknown): boolean {
  return error instanceof RetryableError && (error.code === MISSING || error.code === UNCLEAR);
}

function textsOf(said: readonly Statement<BlockRef>[]): string[] {
  return said.map(({ endpoint, value }) => {
    return `block ${value.number}, dated ${value.timestampSeconds}, by ${endpoint}`;
  });
}

/**
 * Finds the last block dated before the day's end. Each step reads several headers at once and continues between two of
 * them.
 * @param guess tried before the search, at the cost of one request
 * @throws RetryableError where answers contradict each other, or a block is missing
 */
export async function findClosingBlock(
  search: ClosingSearch,
  headersAt: ReadHeaders,
  guess?: BlockRef,
): Promise<BlockRef> {
  const guessed = guess && (await closingAt(guess.number, search, headersAt));
  if (guessed !== undefined) return guessed;
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
  const closing = await closingAt(from.number, search, headersAt);
  if (closing !== undefined) return closing;
  throw new RetryableError(
    UNCLEAR,
    `Blocks ${from.number} and ${to.number} do not follow each other across the end of the day, as a node told before; it is asked again`,
  );
}

/**
 * The block of this number, if it is the closing block: the next one is dated at the day's end or later and names it as
 * its parent. Both are read in one request, so that both come from one node.
 */
async function closingAt(
  number: bigint,
  { endSeconds }: ClosingSearch,
  headersAt: ReadHeaders,
): Promise<BlockRef | undefined> {
  const [closing, following] = await headersAt([number, number + 1n]);
  const isEnd =
    closing !== undefined &&
    following?.parentHash === closing.hash &&
    closing.timestampSeconds < endSeconds &&
    following.timestampSeconds >= endSeconds;
  return isEnd ? refOf(closing) : undefined;
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
      MISSING,
      `A node does not have the final block ${number}; it is asked again`,
    );
  });
}
