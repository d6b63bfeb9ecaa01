/** A list of wallets with their low-water marks of a day, in one buffer (52 MB for a million wallets). */
import { type Address } from '../values/address.js';
import {
  addressBytes,
  addressFrom,
  compareBytes,
  type DayLow,
  FIRST_ADDRESS,
  LOW_BYTES,
  readAmount,
  WALLET_BYTES,
  writeAmount,
} from './day-leaf.js';

export const ENTRY_BYTES = WALLET_BYTES + LOW_BYTES;

/** Entries in ascending order of the wallet, each wallet once. */
export class DayList {
  readonly length: number;
  private readonly view: DataView;

  /** @param bytes entries of 20 bytes of wallet and 32 bytes of amount; `DayListBuilder` ensures their order */
  constructor(readonly bytes: Uint8Array) {
    this.length = bytes.length / ENTRY_BYTES;
    if (!Number.isInteger(this.length)) throw new RangeError('a list of a day ends in an entry');
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  wallet(place: number): Uint8Array {
    const start = place * ENTRY_BYTES;
    return this.bytes.subarray(start, start + WALLET_BYTES);
  }

  low(place: number): Uint8Array {
    const start = place * ENTRY_BYTES + WALLET_BYTES;
    return this.bytes.subarray(start, start + LOW_BYTES);
  }

  amount(place: number): bigint {
    return readAmount(this.view, place * ENTRY_BYTES + WALLET_BYTES);
  }

  at(place: number): DayLow {
    return { wallet: addressFrom(this.wallet(place)), low: this.amount(place) };
  }

  *[Symbol.iterator](): Generator<DayLow> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }

  get total(): bigint {
    let total = 0n;
    for (let place = 0; place < this.length; place += 1) total += this.amount(place);
    return total;
  }

  /**
   * The number of entries up to and including `wallet`. The last of these entries is the wallet's own, or that of the
   * next lower wallet.
   */
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
}

const BELOW_ALL = addressBytes(FIRST_ADDRESS);

/** Builds a DayList, which shares the memory of the builder. */
export class DayListBuilder {
  private bytes: Uint8Array;
  private view: DataView;
  private used = 0;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity * ENTRY_BYTES);
    this.view = new DataView(this.bytes.buffer);
  }

  /**
   * Appends a wallet that is above all earlier ones; a wallet with amount 0 is left out.
   * @throws RangeError where the wallet is out of order, or the amount is no uint256
   */
  add(wallet: Uint8Array, amount: bigint): void {
    if (amount === 0n) return;
    this.requireAbove(wallet);
    this.grow(ENTRY_BYTES);
    writeAmount(this.view, this.used + WALLET_BYTES, amount);
    this.bytes.set(wallet, this.used);
    this.used += ENTRY_BYTES;
  }

  list(): DayList {
    return new DayList(this.bytes.subarray(0, this.used));
  }

  private requireAbove(wallet: Uint8Array): void {
    const { used } = this;
    const before =
      used === 0 ? BELOW_ALL : this.bytes.subarray(used - ENTRY_BYTES, used - LOW_BYTES);
    if (compareBytes(before, wallet) < 0) return;
    throw new RangeError(`wallet ${addressFrom(wallet)} is not above ${addressFrom(before)}`);
  }

  private grow(more: number): void {
    if (this.used + more <= this.bytes.length) return;
    const entries = Math.ceil(((this.used + more) * 1.5) / ENTRY_BYTES);
    const grown = new Uint8Array(entries * ENTRY_BYTES);
    grown.set(this.bytes.subarray(0, this.used));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}
