import {
  stake,
  type StakeBlock,
  type StakeMove,
  type StakeTransaction,
  withdraw,
} from '#libs/devchain';
import { type Address, dayOf, SECONDS_PER_DAY } from '#libs/domain';

interface HistoryOptions {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** Number of blocks with activity, in addition to one at each midnight. */
  readonly blocks: number;
  /** Empty blocks at the end, two seconds apart, which make the earlier blocks final. */
  readonly settledBy: number;
}

/**
 * Blocks with staking activity, oldest first: at random moments, one at exactly 00:00:00 of every day (where an error
 * of one second would show in two days' minima), and empty ones at the end.
 */
export function makeHistory(random: Random, crowd: Crowd, options: HistoryOptions): StakeBlock[] {
  const { fromSeconds, blocks, settledBy } = options;
  const endSeconds = options.toSeconds - 2 * settledBy;
  const times = Array.from({ length: blocks }, () => random.between(fromSeconds, endSeconds));
  for (let day = dayOf(fromSeconds) + 1; day * SECONDS_PER_DAY <= endSeconds; day++) {
    times.push(day * SECONDS_PER_DAY);
  }
  times.sort((a, b) => a - b);
  const active = times.map((seconds) => {
    const elapsed = (seconds - fromSeconds) / (endSeconds - fromSeconds);
    return { seconds, transactions: crowd.transactions(elapsed, 5) };
  });
  const quiet = Array.from({ length: settledBy }, (_, index) => ({
    seconds: endSeconds + 2 * (index + 1),
    transactions: [],
  }));
  return [...active, ...quiet];
}

export function countEvents(blocks: readonly StakeBlock[]): number {
  let events = 0;
  for (const { transactions } of blocks) {
    for (const one of transactions) events += 'kind' in one ? 1 : one.length;
  }
  return events;
}

const TOKEN = 10n ** 18n;
/** Tokens of each wallet at the start, in the smallest unit. */
export const BUDGET = 100_000n * TOKEN;

interface Member {
  readonly wallet: Address;
  /** How often the wallet acts, relative to the others. */
  readonly weight: number;
  staked: bigint;
}

/**
 * Wallets with habits: a few act all day, most act now and then, some join late and some leave for good. The stake of
 * each wallet is tracked, so that no withdrawal exceeds it.
 */
export class Crowd {
  readonly #members: Member[];

  constructor(
    private readonly random: Random,
    wallets: readonly Address[],
    staked: ReadonlyMap<Address, bigint> = new Map(),
  ) {
    this.#members = wallets.map((wallet, index) => ({
      wallet,
      weight: index % 10 === 1 ? 12 : index % 3 === 0 ? 4 : 1,
      staked: staked.get(wallet) ?? 0n,
    }));
  }

  /** Makes the transactions of one block: 1 to `most`, each of another wallet. */
  transactions(elapsed: number, most: number): StakeTransaction[] {
    const members = new Set<Member>();
    const wanted = this.random.between(1, most);
    for (let tries = 0; members.size < wanted && tries < 20; tries++) {
      const member = this.#anyMember(elapsed);
      if (member !== undefined) members.add(member);
    }
    return [...members].map((member) => this.#act(member, elapsed));
  }

  /** @param elapsed fraction of the history that has passed, 0 to 1 */
  #anyMember(elapsed: number): Member | undefined {
    const last = this.#members.length;
    const present = this.#members.filter((member, index) => {
      const late = index >= last - 3 && elapsed < 0.8;
      const gone = index >= last - 6 && index < last - 3 && elapsed > 0.3 && member.staked === 0n;
      return !late && !gone;
    });
    const total = present.reduce((sum, { weight }) => sum + weight, 0);
    let left = this.random.next() * total;
    return present.find(({ weight }) => (left -= weight) < 0);
  }

  #act(member: Member, elapsed: number): StakeTransaction {
    const index = this.#members.indexOf(member);
    const last = this.#members.length;
    if (index >= last - 6 && index < last - 3 && elapsed > 0.3) {
      return this.#withdraw(member, member.staked);
    }
    if (member.staked === 0n) return this.#stake(member);
    if (this.random.chance(0.08)) return [this.#stake(member), this.#withdraw(member)];
    if (this.random.chance(0.04)) return this.#withdraw(member, member.staked);
    return this.random.chance(0.45) ? this.#withdraw(member) : this.#stake(member);
  }

  #stake(member: Member): StakeMove {
    const free = BUDGET - member.staked;
    const amount = this.#part(free, 150);
    member.staked += amount;
    return stake(member.wallet, amount);
  }

  #withdraw(member: Member, amount = this.#part(member.staked, 500)): StakeMove {
    member.staked -= amount;
    return withdraw(member.wallet, amount);
  }

  /** A random part of the amount, at most this many thousandths and at least the smallest unit. */
  #part(amount: bigint, thousandths: number): bigint {
    const part = (amount * BigInt(this.random.between(1, thousandths))) / 1000n;
    return part > 0n ? part : amount > 0n ? 1n : 0n;
  }
}

/** Pseudo-random numbers from a seed (mulberry32), so that every machine makes the same history. Not for secrets. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
