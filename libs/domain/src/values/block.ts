/**
 * Blocks, and the statements of endpoints about final blocks, which are compared with each other and with our clock.
 */

/** A block hash: `0x` and 64 lower-case hex digits. */
export type BlockHash = string & { readonly __brand: 'BlockHash' };

/** A block as the index stores it. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: BlockHash;
  /** Unix time, whole seconds. */
  readonly timestampSeconds: number;
}

/** Whether two statements mean the same block, dated alike: a node can give a right hash with a wrong time. */
export function isSameBlock(one: BlockRef, other: BlockRef): boolean {
  return one.hash === other.hash && one.timestampSeconds === other.timestampSeconds;
}

export interface BlockHeader extends BlockRef {
  readonly parentHash: BlockHash;
}

/** The statement of one endpoint (`witness`) that a block is final. */
export interface FinalStatement {
  readonly witness: string;
  readonly block: BlockRef;
}

/** Seconds by which a chain's clock may be ahead of ours; a block dated later is not believed. */
const MOST_AHEAD_SECONDS = 300;

/** @returns a text with both times where the block is dated too far ahead of our clock, else undefined */
export function aheadOfClock(
  { number, timestampSeconds }: BlockRef,
  nowSeconds: number,
): string | undefined {
  if (timestampSeconds - nowSeconds <= MOST_AHEAD_SECONDS) return undefined;
  return `final block ${number.toString()} is of ${timeOf(timestampSeconds)}, and this machine's clock says ${timeOf(nowSeconds)}`;
}

/** @returns a text with both statements where they differ about the same block, else undefined */
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
