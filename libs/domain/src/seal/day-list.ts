/** The wallets of a day with their lows, in one buffer: a million take 52 MB. */
import { type Address } from '../chain/address.js';
import {
  addressBytes,
  addressFrom,
  amountBytes,
  amountFrom,
  compareBytes,
  type DayLow,
  FIRST_ADDRESS,
  LOW_BYTES,
  WALLET_BYTES,
} from './day-leaf.js';

export const ENTRY_BYTES = WALLET_BYTES + LOW_BYTES;

/** Ascending by wallet, each once, none with a low of 0. */
export class DayList {
  readonly length: number;

  /** @param bytes one entry after the other: 20 bytes of wallet, 32 of low; DayListBuilder makes sure of the order */
  constructor(readonly bytes: Uint8Array) {
    this.length = bytes.length / ENTRY_BYTES;
    if (!Number.isInteger(this.length)) throw new RangeError('a list of a day ends in an entry');
  }

  wallet(place: number): Uint8Array {
    const start = place * ENTRY_BYTES;
    return this.bytes.subarray(start, start + WALLET_BYTES);
  }

  low(place: number): Uint8Array {
    const start = place * ENTRY_BYTES + WALLET_BYTES;
    return this.bytes.subarray(start, start + LOW_BYTES);
  }

  at(place: number): DayLow {
    return { wallet: addressFrom(this.wallet(place)), low: amountFrom(this.low(place)) };
  }

  *[Symbol.iterator](): Generator<DayLow> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }

  /** The number of wallets up to and including this one: it is at the place before, or encloses it there. */
  countUpTo(wallet: Address): number {
    const bytes = addressBytes(wallet);
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(this.wallet(middle), bytes) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether the bytes are entries in the order that a list has; for bytes that were kept elsewhere. */
  get isOrdered(): boolean {
    let before = addressBytes(FIRST_ADDRESS);
    for (let place = 0; place < this.length; place += 1) {
      const wallet = this.wallet(place);
      if (compareBytes(before, wallet) >= 0) return false;
      if (this.low(place).every((byte) => byte === 0)) return false;
      before = wallet;
    }
    return true;
  }
}

/** A list while it is made. What it holds is used again by the next one: a list is good until `clear`. */
export class DayListBuilder {
  private bytes: Uint8Array;
  private used = 0;
  private sum = 0n;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity * ENTRY_BYTES);
  }

  /** The sum of the lows. */
  get total(): bigint {
    return this.sum;
  }

  clear(): void {
    this.used = 0;
    this.sum = 0n;
  }

  /** Adds a wallet above all before; one with a low of 0 is left out. @throws RangeError where it is out of order */
  add(wallet: Uint8Array, low: bigint): void {
    if (low === 0n) return;
    const isFirst = this.used === 0;
    const before = isFirst
      ? addressBytes(FIRST_ADDRESS)
      : this.bytes.subarray(this.used - ENTRY_BYTES, this.used - LOW_BYTES);
    if (compareBytes(before, wallet) >= 0) {
      throw new RangeError(`wallet ${addressFrom(wallet)} is not above ${addressFrom(before)}`);
    }
    if (this.used === this.bytes.length) this.grow();
    this.bytes.set(wallet, this.used);
    this.bytes.set(amountBytes(low), this.used + WALLET_BYTES);
    this.used += ENTRY_BYTES;
    this.sum += low;
  }

  list(): DayList {
    return new DayList(this.bytes.subarray(0, this.used));
  }

  private grow(): void {
    const grown = new Uint8Array(Math.ceil(this.bytes.length / ENTRY_BYTES) * 2 * ENTRY_BYTES);
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
