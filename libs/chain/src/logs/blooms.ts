/** What the bloom of a block says about our logs, and how reliable the blooms of a chain are. */
import { keccak256 } from 'viem/utils';
import { EMPTY_BLOOM, type FullHeader } from '../blocks/header.js';
import { type Hex } from '../rpc/hex.js';
import { type LogFilter } from './log-filter.js';

/**
 * The three bits that an address or a topic sets in a block's 2048-bit bloom (Ethereum Yellow Paper, section 4.3.1), as
 * places in the bloom's hex text.
 */
export interface BloomBits {
  /** Indexes into the text, including its `0x`. */
  readonly digits: readonly number[];
  readonly masks: readonly number[];
}

export function bloomBits(item: Hex): BloomBits {
  const digest = keccak256(item);
  const bits = [0, 1, 2].map(
    (pair) => parseInt(digest.slice(2 + pair * 4, 6 + pair * 4), 16) & 2047,
  );
  return {
    // The bloom is written most significant bit first: bit 0 is in the last digit.
    digits: bits.map((bit) => 2 + 511 - (bit >> 2)),
    masks: bits.map((bit) => 1 << (bit & 3)),
  };
}

/** @returns false: certainly not in the block; true: probably in it */
export function mayContain(bloom: string, bits: BloomBits): boolean {
  for (let at = 0; at < 3; at++) {
    const digit = hexDigit(bloom.charCodeAt(bits.digits[at] as number));
    if ((digit & (bits.masks[at] as number)) === 0) return false;
  }
  return true;
}

export function bloomOf(items: Iterable<BloomBits>): string {
  const digits = new Uint8Array(514);
  for (const bits of items) {
    for (let at = 0; at < 3; at++) {
      const place = bits.digits[at] as number;
      digits[place] = (digits[place] as number) | (bits.masks[at] as number);
    }
  }
  return `0x${Array.from(digits.subarray(2), (digit) => digit.toString(16)).join('')}`;
}

export function isWithin(part: string, whole: string): boolean {
  for (let at = 2; at < part.length; at++) {
    if (hexDigit(part.charCodeAt(at)) & ~hexDigit(whole.charCodeAt(at))) return false;
  }
  return true;
}

function hexDigit(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}

/** Number of blocks over which hints are counted before the chain's blooms are judged. */
const JUDGED_AFTER = 64;
/** A full bloom hints at any event now and then. Hints in every second block occur only where blooms mean nothing. */
const WORTHLESS_SHARE = 0.5;

/**
 * What the blooms of a chain say about our logs, and how reliable they are. A bloom is a hint: one that hints at events
 * that the logs lack, or denies events that the logs have, asks for a second look. A chain that fills its blooms with
 * ones would ask for a second look at every block.
 *
 * States: unknown -> filled (a bloom that is not zero was seen); absent (a log came from a block with a zero bloom);
 * worthless (most hints were refuted). Absent and worthless are final: an empty answer is then confirmed in another
 * way.
 */
export class Blooms {
  private state: 'unknown' | 'filled' | 'absent' | 'worthless' = 'unknown';
  private looked = 0;
  private refuted = 0;
  private readonly addressBits: ReadonlyMap<string, BloomBits>;
  private readonly topicBits: ReadonlyMap<string, BloomBits>;

  constructor({ addresses, topics }: LogFilter) {
    const bits = (item: string): [string, BloomBits] => [item, bloomBits(item as Hex)];
    this.addressBits = new Map(addresses.map(bits));
    this.topicBits = new Map(topics.map(bits));
  }

  /**
   * Whether a block's bloom hints at one of our events that the block's logs do not account for, or denies a log. An
   * address and a topic that both occur in logs of the block explain their own bits.
   * @param seen addresses and topics of the logs that we have of the block
   */
  isSuspect(bloom: string, seen: ReadonlySet<string> | undefined): boolean {
    return (seen !== undefined && this.denies(bloom, seen)) || this.hints(bloom, seen);
  }

  private hints(bloom: string, seen: ReadonlySet<string> | undefined): boolean {
    for (const [address, addressBits] of this.addressBits) {
      if (!mayContain(bloom, addressBits)) continue;
      for (const [topic, topicBits] of this.topicBits) {
        if (seen?.has(address) && seen.has(topic)) continue;
        if (mayContain(bloom, topicBits)) return true;
      }
    }
    return false;
  }

  private denies(bloom: string, seen: ReadonlySet<string>): boolean {
    for (const item of seen) {
      const bits = this.addressBits.get(item) ?? this.topicBits.get(item);
      if (bits && !mayContain(bloom, bits)) return true;
    }
    return false;
  }

  get isUseful(): boolean {
    return this.state === 'unknown' || this.state === 'filled';
  }

  /** Whether a block is believed to be empty because its bloom says so. */
  get isFilled(): boolean {
    return this.state === 'filled';
  }

  /**
   * @param events numbers of the blocks with logs
   * @returns whether the chain turns out not to fill its blooms
   */
  recordBlooms(headers: readonly FullHeader[], events: ReadonlySet<number>): boolean {
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
   * Records that the blooms of `blocks` blocks were checked, and that `refuted` of them hinted at events that a second
   * look did not find.
   * @returns whether blooms are not checked any more from now on
   */
  recordHints(blocks: number, refuted: number): boolean {
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
