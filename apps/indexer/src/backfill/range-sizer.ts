/**
 * How many blocks to ask for at once. Grows while answers are small, shrinks when the provider refuses or an answer is
 * heavy, and remembers for a while what was refused so that it does not run into the same wall again at once.
 */
export interface RangeSizerOptions {
  /** Bytes of one answer to aim at. */
  readonly targetBytes: number;
  /** Never more blocks than this in one range. */
  readonly maxBlocks: number;
  readonly initialBlocks: number;
}

/** Successes after a refusal before a larger range is tried again. */
const SUCCESSES_BEFORE_RAISE = 32;

export class RangeSizer {
  private blocks: number;
  private ceiling: number;
  private successes = 0;

  constructor(private readonly options: RangeSizerOptions) {
    this.blocks = options.initialBlocks;
    this.ceiling = options.maxBlocks;
  }

  /** Blocks to ask for next, at least 1. */
  get size(): number {
    return this.blocks;
  }

  /** An answer of `bytes` for `blocks` blocks came in. Moves at most by a factor of two at a time. */
  succeeded(blocks: number, bytes: number): void {
    if (++this.successes >= SUCCESSES_BEFORE_RAISE && this.ceiling < this.options.maxBlocks) {
      this.ceiling = Math.min(this.options.maxBlocks, this.ceiling * 2);
      this.successes = 0;
    }
    const fitting = (blocks * this.options.targetBytes) / Math.max(1, bytes);
    const next = Math.min(Math.max(fitting, this.blocks / 2), this.blocks * 2);
    // A short range at the head says nothing about how much a long one would bring.
    if (blocks * 2 < this.blocks && next > this.blocks) return;
    this.blocks = clamp(next, this.ceiling);
  }

  /**
   * A range of `blocks` was too much. `proposedBlocks` is what the provider says would fit: taken as a hint only, since it
   * counts logs and not bytes, and never trusted to be smaller by itself.
   * @returns the number of blocks to try instead, less than `blocks` unless that is 1
   */
  refused(blocks: number, proposedBlocks?: number): number {
    const half = Math.floor(blocks / 2);
    const usable =
      proposedBlocks !== undefined && proposedBlocks >= 1 && proposedBlocks < blocks
        ? proposedBlocks
        : half;
    this.successes = 0;
    this.ceiling = Math.min(this.ceiling, clamp(usable, this.options.maxBlocks));
    this.blocks = Math.min(this.blocks, this.ceiling);
    return this.ceiling;
  }
}

function clamp(blocks: number, ceiling: number): number {
  return Math.max(1, Math.min(ceiling, Math.floor(blocks)));
}
