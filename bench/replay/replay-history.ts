/**
 * The staking history in memory: columns of typed arrays, and indexes that answer questions about the state at a block
 * by binary search. Invariant: events are in the order of blocks; `balances` and `totals` hold the values after each
 * event.
 */
import { AMOUNT_UNIT, type ChainHistory, type EventSpan } from './chain-history.js';
import { type MovesOfBlock, type ReplayMove } from './generate-moves.js';

export class ReplayHistory implements ChainHistory {
  /** Numbers of the blocks with events, ascending; `firstEvents` holds the first event of each. */
  private readonly eventBlocks: number[] = [];
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
      wallet: this.wallets[event] ?? 0,
      pool: this.poolIds[event] ?? 0,
      effect: this.decreases[event] === 1 ? 'decrease' : 'increase',
      units: this.units[event] ?? 0n,
    };
  }

  blockOf(event: number): number {
    return this.blocks[event] ?? 0;
  }

  eventsOf(block: number): EventSpan {
    const place = this.placeOf(block);
    return this.eventBlocks[place] === block ? this.eventsAt(place) : { first: 0, end: 0 };
  }

  eventBlockFrom(block: number): number | undefined {
    return this.eventBlocks[this.placeOf(block)];
  }

  balanceAt(wallet: number, pool: number, block: number): bigint {
    const events = this.ofHolder.get(wallet * this.pools + pool) ?? [];
    const after = lowerBound(events.length, (at) => this.blockOf(events[at] ?? 0) > block);
    const newest = events[after - 1];
    return newest === undefined ? 0n : (this.balances[newest] ?? 0n) * AMOUNT_UNIT;
  }

  totalAt(block: number): bigint {
    const { first } = this.eventsAt(this.placeOf(block + 1));
    return first === 0 ? 0n : (this.totals[first - 1] ?? 0n) * AMOUNT_UNIT;
  }

  /** The index in `eventBlocks` of the first block that is not below `block`. */
  private placeOf(block: number): number {
    return lowerBound(this.eventBlocks.length, (at) => (this.eventBlocks[at] ?? 0) >= block);
  }

  private eventsAt(place: number): EventSpan {
    return {
      first: this.firstEvents[place] ?? this.count,
      end: this.firstEvents[place + 1] ?? this.count,
    };
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
