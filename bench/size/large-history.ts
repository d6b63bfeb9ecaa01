import { type BalanceChange, type BalanceDay, type BlockRef, dayOf } from '#libs/domain';
import { walletAt } from '../support/random.js';
import { syntheticBlock } from '../support/synthetic-index.js';

const CHANGES_PER_WALLET = 20;
export const CHANGES_PER_BLOCK = 10;
export const FIRST_SECONDS = 1_640_995_200;
const HISTORY_DAYS = 1400;
/**
 * Has no common divisor with a number whose only prime factors are 2 and 5, so that each turn visits each wallet once.
 */
export const STRIDE = 2_654_435_761n;

/**
 * A history in which change number k belongs to block k / 10 (rounded up), and the wallets take turns in an order that
 * is scattered over the keys. At all sizes the history is equally long and each wallet changes equally often. `seed.ts`
 * has the same history in SQL.
 */
export class LargeHistory {
  readonly wallets: number;
  readonly blocks: number;
  readonly secondsPerBlock: number;

  /** @param changes a multiple of 200 whose only prime factors are 2 and 5, such as 1,000,000 */
  constructor(readonly changes: number) {
    this.wallets = changes / CHANGES_PER_WALLET;
    this.blocks = changes / CHANGES_PER_BLOCK;
    this.secondsPerBlock = Math.max(1, Math.floor((HISTORY_DAYS * 86_400) / this.blocks));
  }

  /** @param number from 1; numbers above `changes` continue after the end of the history */
  change(number: number): BalanceChange {
    const block = Math.ceil(number / CHANGES_PER_BLOCK);
    return {
      wallet: walletAt(Number((BigInt(number) * STRIDE) % BigInt(this.wallets))),
      blockNumber: BigInt(block),
      timestampSeconds: this.secondsOf(block),
      balance: balanceOf(number),
    };
  }

  /** The day of a change. The wallet's previous change was one turn earlier. */
  day(number: number): BalanceDay {
    const { wallet, timestampSeconds, balance } = this.change(number);
    const low = number > this.wallets ? balanceOf(number - this.wallets) : 0n;
    return { wallet, day: dayOf(timestampSeconds), low, closing: balance };
  }

  block(number: number): BlockRef {
    return syntheticBlock(number, this.secondsOf(number));
  }

  private secondsOf(block: number): number {
    return FIRST_SECONDS + block * this.secondsPerBlock;
  }
}

/** The balance after change number `number`: some thousand tokens with a fraction. */
function balanceOf(number: number): bigint {
  const tokens = BigInt((number * 7919) % 100_003) * 10n ** 18n;
  return tokens + BigInt(number) * 1_000_003n;
}

/** `balanceOf` in SQL. @param number an SQL expression */
export function balanceSql(number: string): string {
  return `(((${number} * 7919) % 100003)::numeric * 1000000000000000000 + ${number}::numeric * 1000003)`;
}
