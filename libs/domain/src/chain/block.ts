/** Blocks, and what endpoints say of final ones: held against each other and against our own clock. */

/** A block hash: `0x` and 64 lower-case hex digits. */
export type BlockHash = string & { readonly __brand: 'BlockHash' };

/** A block as the index remembers it. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: BlockHash;
  /** Unix time, whole seconds. */
  readonly timestampSeconds: number;
}

/** A block with the link to the one before it. */
export interface BlockHeader extends BlockRef {
  readonly parentHash: BlockHash;
}

/** A final block, and the endpoint that says so. */
export interface FinalStatement {
  readonly witness: string;
  readonly block: BlockRef;
}

/** A chain's clock is no more than this ahead of ours; what is, is not believed. */
const MOST_AHEAD_SECONDS = 300;

/** @returns both times in words where the block's is too far ahead of our clock, else undefined */
export function aheadOfClock(
  { number, timestampSeconds }: BlockRef,
  nowSeconds: number,
): string | undefined {
  if (timestampSeconds - nowSeconds <= MOST_AHEAD_SECONDS) return undefined;
  return `final block ${number.toString()} is of ${timeOf(timestampSeconds)}, and this machine's clock says ${timeOf(nowSeconds)}`;
}

/** @returns both statements in words where they differ about the same block, else undefined */
export function differenceOf(one: FinalStatement, other: FinalStatement): string | undefined {
  const isSame =
    one.block.number === other.block.number &&
    one.block.hash === other.block.hash &&
    one.block.timestampSeconds === other.block.timestampSeconds;
  return isSame ? undefined : `${inWords(one)}, ${inWords(other)}`;
}

function inWords({ witness, block: { number, hash, timestampSeconds } }: FinalStatement): string {
  return `${witness} says that final block ${number.toString()} is ${hash} of ${timeOf(timestampSeconds)}`;
}

function timeOf(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? `second ${seconds}` : time.toISOString();
}
