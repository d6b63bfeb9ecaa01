/**
 * The staking history in memory: columns of typed arrays, and indexes that answer questions about the state at a block
 * by binary search. Invariant: events are in the order of blocks; `balances` and `totals` hold the values after each
 * event.
 */
import { type MovesOfBlock, type ReplayMove } from './generate-moves.js';

/**
 * All amounts are multiples of this unit. They have digits in all decimal places, while the stored quotients fit 64
 * bits.
 */
export const AMOUNT_UNIT = 1_000_000_007n;

export interface BalanceChangeOfOracle {
  readonly wallet: number;
  readonly block: number;
  /** Balance at the end of the block. */
  readonly balance: bigint;
}

export class ReplayHistory {
  /** Numbers of the blocks with events, ascending; `firstEvents` holds the first event of each. */
  readonly eventBlocks: number[] = [];
  private readonly firstEvents: number[] = [];
  private readonly ofHolder = new Map<number, number[]>();
  private wallets = new Uint32Array(1024);
  private poolIds = new Uint8Array(1024);
  private decreases = new Uint8Array(1024);
  private blocks = new Uint32Array(1024);
  private units = new BigUint64Array(1024);
  private balances = new BigUint64Array(1024);
  private totals = new BigUint64Array(1024);
  private count = 0;

  constructor(
    private readonly pools: number,
    history: Iterable<MovesOfBlock> = [],
  ) {
    for (const part of history) this.append(part);
  }

  get events(): number {
    return this.count;
  }

  append({ block, moves }: MovesOfBlock): void {
    if (moves.length === 0) return;
    this.eventBlocks.push(block);
    this.firstEvents.push(this.count);
    for (const move of moves) this.add(block, move);
  }

  move(event: number): ReplayMove {
    return {
      wallet: this.walletOf(event),
      pool: this.poolIds[event] ?? 0,
      effect: this.decreases[event] === 1 ? 'decrease' : 'increase',
      units: this.units[event] ?? 0n,
    };
  }

  walletOf(event: number): number {
    return this.wallets[event] ?? 0;
  }

  blockOf(event: number): number {
    return this.blocks[event] ?? 0;
  }

  /** The index in `eventBlocks` of the first block that is not below `block`. */
  placeOf(block: number): number {
    return lowerBound(this.eventBlocks.length, (at) => (this.eventBlocks[at] ?? 0) >= block);
  }

  /** The events of the block at an index of `eventBlocks`: index of the first, and index after the last. */
  eventsAt(place: number): { readonly first: number; readonly end: number } {
    return {
      first: this.firstEvents[place] ?? this.count,
      end: this.firstEvents[place + 1] ?? this.count,
    };
  }

  balanceAt(wallet: number, pool: number, block: number): bigint {
    const events = this.ofHolder.get(wallet * this.pools + pool) ?? [];
    const after = lowerBound(events.length, (at) => this.blockOf(events[at] ?? 0) > block);
    const newest = events[after - 1];
    return newest === undefined ? 0n : (this.balances[newest] ?? 0n) * AMOUNT_UNIT;
  }

  /** The total over all wallets and pools. */
  totalAt(block: number): bigint {
    const { first } = this.eventsAt(this.placeOf(block + 1));
    return first === 0 ? 0n : (this.totals[first - 1] ?? 0n) * AMOUNT_UNIT;
  }

  /**
   * The balance changes of a pool as the index must hold them. They are computed from the events alone, without the
   * balances above. A wallet has no change in a block where its balance at the end equals its last known balance.
   */
  *changes(pool: number): Generator<BalanceChangeOfOracle> {
    const standing = new Map<number, bigint>();
    for (const [place, block] of this.eventBlocks.entries()) {
      const { first, end } = this.eventsAt(place);
      const before = new Map<number, bigint | undefined>();
      for (let event = first; event < end; event++) {
        const { wallet, pool: of, effect, units } = this.move(event);
        if (of !== pool) continue;
        const balance = standing.get(wallet);
        if (!before.has(wallet)) before.set(wallet, balance);
        standing.set(wallet, (balance ?? 0n) + (effect === 'increase' ? units : -units));
      }
      for (const [wallet, held] of before) {
        const balance = standing.get(wallet) ?? 0n;
        if (balance !== held) yield { wallet, block, balance: balance * AMOUNT_UNIT };
      }
    }
  }

  private add(block: number, { wallet, pool, effect, units }: ReplayMove): void {
    if (this.count === this.wallets.length) this.grow();
    const event = this.count++;
    const holder = wallet * this.pools + pool;
    const own = this.ofHolder.get(holder);
    const newest = own?.at(-1);
    const held = newest === undefined ? 0n : (this.balances[newest] ?? 0n);
    const change = effect === 'increase' ? units : -units;
    this.wallets[event] = wallet;
    this.poolIds[event] = pool;
    this.decreases[event] = effect === 'decrease' ? 1 : 0;
    this.blocks[event] = block;
    this.units[event] = units;
    this.balances[event] = held + change;
    this.totals[event] = (event === 0 ? 0n : (this.totals[event - 1] ?? 0n)) + change;
    if (own) own.push(event);
    else this.ofHolder.set(holder, [event]);
  }

  private grow(): void {
    const length = this.wallets.length * 2;
    this.wallets = copied(new Uint32Array(length), this.wallets);
    this.poolIds = copied(new Uint8Array(length), this.poolIds);
    this.decreases = copied(new Uint8Array(length), this.decreases);
    this.blocks = copied(new Uint32Array(length), this.blocks);
    this.units = copied(new BigUint64Array(length), this.units);
    this.balances = copied(new BigUint64Array(length), this.balances);
    this.totals = copied(new BigUint64Array(length), this.totals);
  }
}

function copied<T extends { set(from: T): void }>(to: T, from: T): T {
  to.set(from);
  return to;
}

/** The first of `length` indexes for which `isBehind` holds. It must hold for all indexes after that one too. */
function lowerBound(length: number, isBehind: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
