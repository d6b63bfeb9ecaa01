import { type Address } from '#libs/domain';
import { stake, type StakeBlock, type StakeMove, withdraw } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { randomFrom } from '#libs/testing/seeds';

const DAY = 86_400;

/** Pseudo-random whole numbers from 0 to below `below`. Equal seeds give equal numbers. */
export function randomOf(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => (random() * 2 ** 32) % below;
}

/**
 * A pseudo-random history in which no wallet withdraws more than it staked. Some blocks share a timestamp, some are
 * dated exactly 00:00:00, some hold several events of one wallet, some hold none; some days have no event.
 */
export class HistoryMaker {
  private balances = new Map<Address, bigint>();

  constructor(
    private readonly random: (below: number) => number,
    private seconds: number,
    private readonly wallets = 12,
  ) {}

  /** State to restore after a reorganisation. */
  save(): { balances: Map<Address, bigint>; seconds: number } {
    return { balances: new Map(this.balances), seconds: this.seconds };
  }

  restore(saved: { balances: Map<Address, bigint>; seconds: number }): void {
    this.balances = new Map(saved.balances);
    this.seconds = saved.seconds;
  }

  /** Dates the next block at or soon after midnight. */
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
      // Transactions of one block come from different senders and have no fixed order, so a wallet either stakes or
      // withdraws in a block.
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

/**
 * The first blocks of a pseudo-random history, and the maker of its further blocks. Equal seeds give equal histories.
 */
export function begunHistory(
  seed: number,
  fromSeconds: number,
  count: number,
): { readonly blocks: StakeBlock[]; readonly history: HistoryMaker } {
  const history = new HistoryMaker(randomOf(seed), fromSeconds);
  return { blocks: history.blocks(count), history };
}
