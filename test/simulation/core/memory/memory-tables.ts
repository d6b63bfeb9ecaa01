/** The tables of schema `staking`, in memory. The stores in this folder read and write them as those of #libs/db do. */
import {
  type AuditRun,
  type IndexState,
  type PriceAcceptance,
  type PriceHold,
  type SealedDay,
} from '#libs/db';
import { type Address, type BlockRef, type DayBalance } from '#libs/domain';

export interface StoredChange {
  readonly block: bigint;
  readonly seconds: number;
  readonly balance: bigint;
}

export interface StoredPrice {
  readonly observedMs: number;
  /** More than one price of a source may be of one millisecond. */
  readonly micros: number;
  readonly source: string;
  readonly usd: string;
  readonly readAtMs: number;
}

export interface StoredAcceptance extends Omit<PriceAcceptance, 'at'> {
  readonly atMs: number;
}

/** The tables of prices, and the fence of the leader, under which they are written. */
export interface PriceTables {
  readonly state: Pick<IndexState, 'fence'> | undefined;
  /** In the order in which they were read last. */
  prices: readonly StoredPrice[];
  priceHold: PriceHold | undefined;
  /** Oldest first. */
  acceptances: readonly StoredAcceptance[];
  version: number;
}

/** What a class offers to its users, for a second class that stands in its place. */
export type Public<T> = Pick<T, keyof T>;

export class MemoryTables implements PriceTables {
  state: IndexState | undefined;
  generation = '';
  private generations = 0;
  /** Each wallet's changes, by block. */
  changes = new Map<Address, readonly StoredChange[]>();
  /** Each wallet's days, ascending. */
  days = new Map<Address, readonly DayBalance[]>();
  totals = new Map<number, bigint>();
  blocks = new Map<bigint, BlockRef>();
  findings: ReadonlySet<Address> | 'all' = new Set();
  prices: readonly StoredPrice[] = [];
  priceHold: PriceHold | undefined;
  acceptances: readonly StoredAcceptance[] = [];
  /** The revisions of each sealed day. */
  readonly sealed = new Map<number, readonly SealedDay[]>();
  recheckFrom: number | undefined;
  /** Oldest first. */
  readonly audits: AuditRun[] = [];
  /** Grows with each write. */
  version = 0;

  /** Changes the state; as the database does, under a new generation where something may have been taken back. */
  setState(next: IndexState): void {
    const { state } = this;
    const isTakenBack =
      state === undefined ||
      next.fence !== state.fence ||
      next.head.number < state.head.number ||
      (next.head.number === state.head.number && next.head.hash !== state.head.hash);
    if (isTakenBack) this.renewGeneration();
    if (state && next.head.number < state.head.number) this.noteSealedAbove(next.head.number);
    this.state = next;
    this.version++;
  }

  /** Sealed days from this one on have to be calculated again. */
  noteRecheck(day: number): void {
    this.recheckFrom = Math.min(this.recheckFrom ?? day, day);
  }

  private noteSealedAbove(block: bigint): void {
    for (const [day, revisions] of this.sealed)
      if (revisions.some(({ blockNumber }) => blockNumber > block)) this.noteRecheck(day);
  }

  renewGeneration(): void {
    this.generation = `generation ${++this.generations}`;
  }
}
