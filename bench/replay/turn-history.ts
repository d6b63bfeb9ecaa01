/**
 * A staking history that is computed from the numbers of events, blocks and wallets: nothing of it is stored but the
 * total of each block, so a hundred million events of five million wallets take a few megabytes.
 *
 * Every block has the same number of events. Even events are those of all wallets, odd events those of the busiest
 * tenth. In both groups the wallets take turns, in an order that is scattered and shifts with each turn. A wallet's
 * balance is the sum of its stakes in both groups; each of its turns changes the stake of the group.
 */
import { AMOUNT_UNIT, type ChainHistory, type EventSpan } from './chain-history.js';
import { type ReplayMove } from './generate-moves.js';
import { type ReplayShape } from './replay-shape.js';
import { mix32 } from './seeded.js';

const BUSY_SHARE = 0.1;
/** A wallet withdraws its whole stake of a group in one of so many of its odd turns. */
const EXITS_ONCE_IN = 8;
const GOLDEN_RATIO = 0.618;
const TURN_SALT = 0x9e3779b1;

type TurnShape = Pick<ReplayShape, 'seed' | 'blocks' | 'events' | 'wallets'>;

export class TurnHistory implements ChainHistory {
  readonly events: number;
  private readonly blocks: number;
  private readonly groups: readonly [TurnGroup, TurnGroup];
  /** Total at the end of each block in units of AMOUNT_UNIT, known up to block `known`. */
  private readonly totals: BigUint64Array;
  private known = 0;

  constructor({ seed, blocks, events, wallets }: TurnShape) {
    this.events = events;
    this.blocks = blocks;
    this.totals = new BigUint64Array(blocks + 1);
    const busy = Math.max(1, Math.floor(wallets * BUSY_SHARE));
    this.groups = [new TurnGroup(seed, wallets), new TurnGroup(seed + 1, busy)];
  }

  move(event: number): ReplayMove {
    const group = this.groups[event % 2 === 0 ? 0 : 1];
    const place = Math.floor(event / 2);
    const wallet = group.walletAt(place);
    const units = group.changeAt(place, wallet);
    const effect = units > 0 ? 'increase' : 'decrease';
    return { wallet, pool: 0, effect, units: BigInt(Math.abs(units)) };
  }

  blockOf(event: number): number {
    const block = Math.floor((event * this.blocks) / this.events) + 1;
    // The quotient may be one too low or too high, since it is rounded.
    if (event < this.firstOf(block)) return block - 1;
    return event < this.firstOf(block + 1) ? block : block + 1;
  }

  eventsOf(block: number): EventSpan {
    if (block < 1 || block > this.blocks) return { first: 0, end: 0 };
    return { first: this.firstOf(block), end: this.firstOf(block + 1) };
  }

  eventBlockFrom(block: number): number | undefined {
    const next = Math.max(1, block);
    const first = next > this.blocks ? this.events : this.firstOf(next);
    return first < this.events ? this.blockOf(first) : undefined;
  }

  balanceAt(wallet: number, pool: number, block: number): bigint {
    if (pool !== 0) return 0n;
    const events = block >= this.blocks ? this.events : this.firstOf(Math.max(1, block + 1));
    const [all, busy] = this.groups;
    const units =
      all.stakeAfter(Math.ceil(events / 2), wallet) +
      busy.stakeAfter(Math.floor(events / 2), wallet);
    return BigInt(units) * AMOUNT_UNIT;
  }

  totalAt(block: number): bigint {
    const wanted = Math.min(Math.max(0, block), this.blocks);
    while (this.known < wanted) {
      const before = this.totals[this.known] ?? 0n;
      this.totals[++this.known] = before + BigInt(this.changeOfBlock(this.known));
    }
    return (this.totals[wanted] ?? 0n) * AMOUNT_UNIT;
  }

  private changeOfBlock(block: number): number {
    const { first, end } = this.eventsOf(block);
    let units = 0;
    for (let event = first; event < end; event++) {
      const group = this.groups[event % 2 === 0 ? 0 : 1];
      const place = Math.floor(event / 2);
      units += group.changeAt(place, group.walletAt(place));
    }
    return units;
  }

  private firstOf(block: number): number {
    return Math.floor(((block - 1) * this.events) / this.blocks);
  }
}

/** Wallets from 0 on that take turns. Place n is the nth event of the group. */
class TurnGroup {
  private readonly stride: number;
  private readonly inverse: number;

  constructor(
    private readonly seed: number,
    private readonly size: number,
  ) {
    this.stride = Math.max(1, Math.floor(size * GOLDEN_RATIO));
    while (inverseOf(this.stride, size) === undefined) this.stride++;
    this.inverse = inverseOf(this.stride, size) ?? 0;
  }

  walletAt(place: number): number {
    const turn = Math.floor(place / this.size);
    return ((place % this.size) * this.stride + this.shiftOf(turn)) % this.size;
  }

  /** Change of the wallet's stake by the event at this place, in units; never 0. */
  changeAt(place: number, wallet: number): number {
    const turn = Math.floor(place / this.size);
    return this.stakeOf(wallet, turn) - (turn === 0 ? 0 : this.stakeOf(wallet, turn - 1));
  }

  /** The wallet's stake after the first `places` events of the group, in units. */
  stakeAfter(places: number, wallet: number): number {
    if (wallet >= this.size) return 0;
    const turn = Math.floor(places / this.size);
    const ahead = (wallet - this.shiftOf(turn) + this.size) % this.size;
    const own = (ahead * this.inverse) % this.size;
    const turns = own < places % this.size ? turn + 1 : turn;
    return turns === 0 ? 0 : this.stakeOf(wallet, turns - 1);
  }

  /** The wallet's stake after its turn, from 0 to below 2 ** 40. It is odd after even turns, and even after odd ones. */
  private stakeOf(wallet: number, turn: number): number {
    const hash = mix32(mix32(this.seed + Math.imul(turn + 1, TURN_SALT)) + wallet);
    const isOdd = turn % 2 === 1;
    if (isOdd && hash % EXITS_ONCE_IN === 0) return 0;
    return 2 * (hash * 64 + (hash & 63)) + (isOdd ? 2 : 1);
  }

  private shiftOf(turn: number): number {
    return mix32(this.seed ^ turn) % this.size;
  }
}

/** The number whose product with `value` leaves 1 modulo `size`; undefined where there is none. */
function inverseOf(value: number, size: number): number | undefined {
  // The extended Euclidean algorithm.
  let [rest, next] = [size, value % size];
  let [before, after] = [0, 1];
  while (next > 0) {
    const times = Math.floor(rest / next);
    [rest, next] = [next, rest - times * next];
    [before, after] = [after, before - times * after];
  }
  return rest === 1 ? ((before % size) + size) % size : undefined;
}
