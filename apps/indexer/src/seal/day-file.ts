import { type WalletDayBytes } from '#libs/db';
import {
  addressBytes,
  compareBytes,
  FIRST_ADDRESS,
  LAST_ADDRESS,
  LOW_BYTES,
  readAmount,
  WALLET_BYTES,
  writeAmount,
} from '#libs/domain';
import { type ScratchFile, type ScratchFolder } from './scratch-file.js';

const LOW_AT = WALLET_BYTES;
const CLOSING_AT = LOW_AT + LOW_BYTES;
const RECORD_BYTES = CLOSING_AT + LOW_BYTES;

const FIRST = addressBytes(FIRST_ADDRESS);
const LAST = addressBytes(LAST_ADDRESS);
const NOTHING = new Uint8Array(LOW_BYTES);

/** The parts of a leaf in bytes; valid until the next one is read. */
interface LeafBytes {
  readonly wallet: Uint8Array;
  readonly low: Uint8Array;
}

/** A wallet's record of the day before, in bytes; valid until the next one is read. */
export interface CarriedWallet {
  readonly wallet: Uint8Array;
  readonly closing: Uint8Array;
}

/**
 * The wallets with a stake at the end of a day, in a temporary file: for each one its address, its low-water mark and
 * its balance at the end of the day. The next day carries these balances forward.
 */
export class DayFile {
  private readonly file: ScratchFile;
  private readonly record = new Uint8Array(RECORD_BYTES);
  private readonly view = new DataView(this.record.buffer);
  /** Number of wallets with a low above zero. */
  wallets = 0;
  /** The sum of all lows, in the token's smallest unit. */
  total = 0n;
  /** The sum of the balances at the end of the day, in the token's smallest unit. */
  closingTotal = 0n;

  constructor(folder: ScratchFolder) {
    this.file = folder.open();
  }

  /**
   * Adds a wallet that is above all earlier ones. A wallet without a stake at the end of the day has a low of 0, and is
   * left out.
   * @throws RangeError where the wallet is out of order, or an amount is no uint256
   */
  add({ wallet, low, closing }: WalletDayBytes): void {
    if (closing === 0n) return;
    this.setWallet(wallet);
    writeAmount(this.view, LOW_AT, low);
    writeAmount(this.view, CLOSING_AT, closing);
    this.append(low, closing);
  }

  /** Adds a wallet whose balance did not change on the day. @throws RangeError where the wallet is out of order */
  carry({ wallet, closing }: CarriedWallet): void {
    this.setWallet(wallet);
    this.record.set(closing, LOW_AT);
    this.record.set(closing, CLOSING_AT);
    const amount = readAmount(this.view, CLOSING_AT);
    this.append(amount, amount);
  }

  *closings(): Generator<CarriedWallet> {
    for (const record of this.file.records(RECORD_BYTES)) {
      yield { wallet: record.subarray(0, LOW_AT), closing: record.subarray(CLOSING_AT) };
    }
  }

  /** The leaves of the day's tree in the order of the wallets, with those of both ends of the address space. */
  *leaves(): Generator<LeafBytes> {
    yield { wallet: FIRST, low: NOTHING };
    let endsAtLast = false;
    for (const record of this.file.records(RECORD_BYTES)) {
      const low = record.subarray(LOW_AT, CLOSING_AT);
      if (compareBytes(low, NOTHING) === 0) continue;
      const wallet = record.subarray(0, LOW_AT);
      endsAtLast = compareBytes(wallet, LAST) === 0;
      yield { wallet, low };
    }
    if (!endsAtLast) yield { wallet: LAST, low: NOTHING };
  }

  close(): void {
    this.file.close();
  }

  private setWallet(wallet: Uint8Array): void {
    // The record still has the wallet before, at first the zero address, which never stakes.
    if (compareBytes(this.record.subarray(0, LOW_AT), wallet) >= 0) {
      throw new RangeError('the wallets of a day are not in ascending order');
    }
    this.record.set(wallet, 0);
  }

  private append(low: bigint, closing: bigint): void {
    this.file.append(this.record);
    if (low > 0n) this.wallets += 1;
    this.total += low;
    this.closingTotal += closing;
  }
}
