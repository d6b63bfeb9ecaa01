/** A random history of a few wallets, and the tiers of a rule for these wallets, calculated by brute force. */
import { type Address, type TierRule } from '#libs/domain';
import { aWallet } from '#libs/testing';
import { DAY_SECONDS, dice, type StakeStep } from './webhook-bench.support-spec.js';

export const DAYS = 14;
const BLOCKS_A_DAY = 3;
export const LAST = DAYS * BLOCKS_A_DAY;
export const WALLETS = Array.from({ length: 7 }, (_, place) => aWallet(place + 1));

export const lastBlockOf = (day: number): number => (day + 1) * BLOCKS_A_DAY;
export const secondsOf = (block: number): number =>
  Math.floor(((block - 1) / BLOCKS_A_DAY) * DAY_SECONDS) + 60;

export class History {
  readonly steps: StakeStep[] = [];
  /** Balances by wallet, at the end of each block from 0 on. */
  private readonly balances = new Map<Address, bigint[]>();

  constructor(seed: number) {
    const roll = dice(seed);
    for (const wallet of WALLETS) this.balances.set(wallet, [0n]);
    for (let block = 1; block <= LAST; block += 1) {
      const deltas: { wallet: Address; amount: bigint }[] = [];
      for (const wallet of WALLETS) {
        const own = this.balances.get(wallet) as bigint[];
        const before = own.at(-1) as bigint;
        const next = roll(4) === 0 ? BigInt(roll(40)) : before;
        if (next !== before) deltas.push({ wallet, amount: next - before });
        own.push(next);
      }
      this.steps.push({ block, seconds: secondsOf(block), deltas });
    }
  }

  balance(wallet: Address, block: number): bigint {
    const own = this.balances.get(wallet) ?? [];
    return own[block] ?? own.at(-1) ?? 0n;
  }

  low(wallet: Address, day: number): bigint {
    if (day < 0) return 0n;
    const blocks = Array.from({ length: BLOCKS_A_DAY + 1 }, (_, n) => day * BLOCKS_A_DAY + n);
    return blocks
      .map((block) => this.balance(wallet, block))
      .reduce((least, one) => (one < least ? one : least));
  }

  /** The measure as a sum over the rule's days. */
  measured({ measure, days }: TierRule, wallet: Address, point: number): bigint {
    if (measure === 'balance') return this.balance(wallet, point);
    return Array.from({ length: days }, (_, back) => this.low(wallet, point - back)).reduce(
      (sum, one) => sum + one,
      0n,
    );
  }
}

/** The rule in its simplest form. */
export function tierAfter(rule: TierRule, before: number, sum: bigint): number {
  const days = BigInt(rule.days);
  let tier = before;
  while (tier < rule.thresholds.length && sum >= (rule.thresholds[tier] as bigint) * days)
    tier += 1;
  while (tier > 0 && sum < ((rule.thresholds[tier - 1] as bigint) - rule.hysteresis) * days) {
    tier -= 1;
  }
  return tier;
}
