import { type Address } from '#libs/domain';
import { aWallet, stake, type StakeBlock, type StakeMove, withdraw } from '#libs/testing';

const DAY = 86_400;

/** A small generator of numbers, the same for the same seed: mulberry32. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * A made-up history that stays possible: no wallet withdraws more than it staked. Some blocks share a timestamp, some fall on
 * 00:00:00 exactly, some hold several events of one wallet, some none; days pass without any.
 */
export class HistoryMaker {
  private balances = new Map<Address, bigint>();

  constructor(
    private readonly random: (below: number) => number,
    private seconds: number,
    private readonly wallets = 12,
  ) {}

  /** Where to come back to after a reorganisation. */
  save(): { balances: Map<Address, bigint>; seconds: number } {
    return { balances: new Map(this.balances), seconds: this.seconds };
  }

  restore(saved: { balances: Map<Address, bigint>; seconds: number }): void {
    this.balances = new Map(saved.balances);
    this.seconds = saved.seconds;
  }

  /** The next block is about to be the first of a day, or nearly so. */
  approachMidnight(): void {
    this.seconds = (Math.floor(this.seconds / DAY) + 1) * DAY - 1;
  }

  blocks(count: number): StakeBlock[] {
    return Array.from({ length: count }, () => this.block());
  }

  private block(): StakeBlock {
    this.seconds = this.nextTime();
    const transactions: StakeMove[] = [];
    for (let events = this.random(5); events > 0; events--) {
      const wallet = aWallet(0x1000 + this.random(this.wallets));
      const balance = this.balances.get(wallet) ?? 0n;
      const withdraws = balance > 0n && this.random(2) === 0;
      const amount = withdraws
        ? this.random(3) === 0
          ? balance
          : 1n + BigInt(this.random(Number(balance > 1000n ? 1000n : balance)))
        : 1n + BigInt(this.random(1000));
      // A withdrawal and a stake of one block come from different senders, in no order: keep to one kind for each wallet.
      if (transactions.some((move) => move.wallet === wallet && move.kind === 'withdraw')) continue;
      if (withdraws && transactions.some((move) => move.wallet === wallet)) continue;
      this.balances.set(wallet, withdraws ? balance - amount : balance + amount);
      transactions.push(withdraws ? withdraw(wallet, amount) : stake(wallet, amount));
    }
    return { seconds: this.seconds, transactions };
  }

  private nextTime(): number {
    const midnight = (Math.floor(this.seconds / DAY) + 1) * DAY;
    switch (this.random(10)) {
      case 0:
        return this.seconds;
      case 1:
        return midnight;
      case 2:
        return midnight + this.random(2 * DAY);
      default:
        return this.seconds + 1 + this.random(DAY / 8);
    }
  }
}

/** The first blocks of a made-up history, and what goes on behind them: the same for the same seed. */
export function begunHistory(
  seed: number,
  fromSeconds: number,
  count: number,
): { readonly blocks: StakeBlock[]; readonly history: HistoryMaker } {
  const history = new HistoryMaker(randomOf(seed), fromSeconds);
  return { blocks: history.blocks(count), history };
}
