import { EMPTY_BLOOM, type FullHeader } from '../shape/header.js';

/** Blocks over which hints are counted before the chain's blooms are judged. */
const JUDGED_AFTER = 64;
/** A full bloom speaks of any event now and then; of one in every second block only where blooms mean nothing. */
const WORTHLESS_SHARE = 0.5;

/**
 * What this chain's blooms are worth. They are hints: one that speaks of events that are not there, or denies some that are, asks for
 * a second look. A chain that fills its blooms with ones would ask for one in every block.
 *
 * States: unknown -> filled (a bloom that is not zero was seen); absent (a log came from a block with a zero bloom); worthless (most
 * hints were refuted). Absent and worthless stay: an empty answer is then confirmed in another way.
 */
export class BloomTrust {
  private state: 'unknown' | 'filled' | 'absent' | 'worthless' = 'unknown';
  private looked = 0;
  private refuted = 0;

  /** Whether blooms are looked at. */
  get isUseful(): boolean {
    return this.state === 'unknown' || this.state === 'filled';
  }

  /** Whether a block that its bloom calls empty is believed to be. */
  get isFilled(): boolean {
    return this.state === 'filled';
  }

  /**
   * @param events numbers of the blocks with logs
   * @returns whether the chain turns out not to fill its blooms
   */
  learn(headers: readonly FullHeader[], events: ReadonlySet<number>): boolean {
    if (!this.isUseful) return false;
    const isEmpty = ({ logsBloom }: FullHeader): boolean => logsBloom === EMPTY_BLOOM;
    if (headers.some((header) => isEmpty(header) && events.has(Number(header.number)))) {
      this.state = 'absent';
      return true;
    }
    if (!headers.every(isEmpty)) this.state = 'filled';
    return false;
  }

  /**
   * Blooms of `blocks` blocks were looked at; `refuted` of them hinted at what a second look did not find.
   * @returns whether blooms are not looked at from now on
   */
  judge(blocks: number, refuted: number): boolean {
    this.looked += blocks;
    this.refuted += refuted;
    if (!this.isUseful || this.looked < JUDGED_AFTER) return false;
    if (this.refuted >= this.looked * WORTHLESS_SHARE) {
      this.state = 'worthless';
      return true;
    }
    this.looked = 0;
    this.refuted = 0;
    return false;
  }
}
