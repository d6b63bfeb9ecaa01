/**
 * How many blocks to ask for at once. Grows while answers are small, shrinks when the provider refuses for size or an answer is
 * heavy. Between the largest range that came in and the smallest that was refused it searches by halves, so that a limit that was not
 * named is found in a few tries; what was refused is tried again soon, and less soon each time that it is refused again.
 */
export interface RangeSizerOptions {
  /** Bytes of one answer to aim at. */
  readonly targetBytes: number;
  /** Never more blocks than this in one range. */
  readonly maxBlocks: number;
  readonly initialBlocks: number;
}

/** Full ranges in a row before more than the limit is tried again: at first, and at the most. */
const FIRST_PATIENCE = 8;
const LONGEST_PATIENCE = 1024;
/** The limit is known where the smallest refused range is at most so much larger than the largest that came in. */
const KNOWN_WITHIN = 1.06;
/** Providers like round limits. */
const ROUND = [1, 2, 5].flatMap((digit) => [1, 10, 100, 1000, 10_000].map((unit) => digit * unit));

export class RangeSizer {
  private blocks: number;
  /** The largest range that came in since the last refusal; 0 where none did. */
  private accepted = 0;
  /** The smallest range that was refused. */
  private refusedBlocks = Infinity;
  private patience = FIRST_PATIENCE;
  private successes = 0;
  /** The smallest range that was refused is to be tried again. */
  private isProbeDue = false;
  private bytesPerBlock = 0;

  constructor(private readonly options: RangeSizerOptions) {
    this.blocks = Math.min(options.initialBlocks, options.maxBlocks);
  }

  /** Blocks that fit as far as is known, at least 1. */
  get size(): number {
    return this.blocks;
  }

  /** Blocks to ask for next: mostly `size`. One range now and then tries what was refused; those beside it do not. */
  next(): number {
    if (!this.isProbeDue) return this.blocks;
    this.isProbeDue = false;
    this.successes = 0;
    return Math.min(this.options.maxBlocks, this.refusedBlocks);
  }

  /** Bytes that the next answer will have, as far as the last ones tell. */
  get expectedBytes(): number {
    return this.bytesPerBlock * this.blocks;
  }

  /** An answer of `bytes` for `blocks` blocks came in. Moves at most by a factor of two at a time. */
  succeeded(blocks: number, bytes: number): void {
    const isFull = blocks * 2 >= this.blocks;
    // A short range at the head says nothing about how much a long one would bring.
    if (!isFull && bytes < this.options.targetBytes) return;
    this.bytesPerBlock = (this.bytesPerBlock + bytes / blocks) / (this.bytesPerBlock === 0 ? 1 : 2);
    this.accepted = Math.max(this.accepted, blocks);
    if (blocks >= this.refusedBlocks) this.forgetRefusal();
    const fitting = (blocks * this.options.targetBytes) / Math.max(1, bytes);
    this.blocks = clamp(
      Math.min(Math.max(fitting, this.blocks / 2), this.blocks * 2),
      this.ceiling,
    );
    const isAtLimit = this.isLimitKnown && this.blocks >= Math.floor(this.ceiling);
    if (isAtLimit && ++this.successes >= this.patience) this.isProbeDue = true;
  }

  /**
   * A range of `blocks` was too much. `proposedBlocks` is what the provider says would fit: taken as a hint only, since it
   * counts logs and not bytes, and never trusted to be smaller by itself.
   * @returns the number of blocks to try instead, less than `blocks` unless that is 1
   */
  refused(blocks: number, proposedBlocks?: number): number {
    this.successes = 0;
    if (this.isLimitKnown && blocks === this.refusedBlocks)
      this.patience = Math.min(LONGEST_PATIENCE, this.patience * 2);
    this.isProbeDue = false;
    this.refusedBlocks = Math.min(this.refusedBlocks, blocks);
    // What came in before is refused now: the limit has changed, or is of another kind.
    if (this.accepted >= this.refusedBlocks) this.accepted = 0;
    const isUsable =
      proposedBlocks !== undefined && proposedBlocks >= 1 && proposedBlocks < this.refusedBlocks;
    if (isUsable) {
      this.refusedBlocks = proposedBlocks + 1;
      this.accepted = Math.min(this.accepted, proposedBlocks);
      this.blocks = Math.min(this.blocks, proposedBlocks);
      return proposedBlocks;
    }
    this.blocks = clamp(Math.min(this.blocks, this.ceiling), this.options.maxBlocks);
    return this.blocks;
  }

  private get isLimitKnown(): boolean {
    return this.refusedBlocks <= Math.max(this.accepted + 1, this.accepted * KNOWN_WITHIN);
  }

  /** The most that is worth a try. */
  private get ceiling(): number {
    const { maxBlocks } = this.options;
    if (this.refusedBlocks === Infinity) return maxBlocks;
    if (this.accepted === 0) return Math.min(maxBlocks, this.refusedBlocks / 2);
    if (this.isLimitKnown) return Math.min(maxBlocks, this.accepted);
    const round = ROUND.findLast((size) => size > this.accepted && size < this.refusedBlocks);
    return Math.min(maxBlocks, round ?? (this.accepted + this.refusedBlocks) / 2);
  }

  private forgetRefusal(): void {
    this.refusedBlocks = Infinity;
    this.successes = 0;
    this.patience = FIRST_PATIENCE;
    this.isProbeDue = false;
  }
}

function clamp(blocks: number, ceiling: number): number {
  return Math.max(1, Math.floor(Math.min(ceiling, blocks)));
}
