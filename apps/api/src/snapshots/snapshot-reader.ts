import { LRUCache } from 'lru-cache';
import { type RedisTexts } from '#libs/cache';
import {
  type AskedDays,
  type AskedHistory,
  type AskedWallet,
  type HistoryRead,
  isDaysText,
  type SnapshotState,
  type SnapshotStore,
  type WindowRead,
  type WindowSink,
} from '#libs/db';
import { type Address, SECONDS_PER_DAY } from '#libs/domain';
import { type StandbyReads } from '../standbys/standby-reads.js';
import { type WalletAnswer } from './snapshot-answer.js';

/** Wallets kept at once in this process; some 5 KB each at most. */
const MAX_WALLETS = 10_000;
const SHARED_TTL_SECONDS = 86_400;

/** What an answer takes from its wallet's rows, and how long that holds. */
interface WalletPart extends WalletAnswer {
  /** Days since 1970-01-01 UTC, exclusive. */
  readonly endDay: number;
  /** Of the index; see `versionOf`. */
  readonly version: string;
}

/** What an answer takes from its wallet's rows, and the state of the index to which they belong. */
export interface IndexedWallet {
  readonly state: SnapshotState;
  readonly part: WalletAnswer;
}

/** The parts of several wallets, and the state of the index to which all of them belong. */
interface Found {
  readonly state: SnapshotState;
  readonly parts: ReadonlyMap<Address, WalletPart>;
  /** Those of them that were not kept. */
  readonly missing: ReadonlySet<Address>;
}

/**
 * Wallets as of now: the state of the index is always read, by a statement that begins after the request, and with it what is not
 * kept of the wallets that are asked for meanwhile. What is kept, here and in Redis, carries the version of the index that it was
 * read from, and is used only under the same: nothing is ever invalidated.
 */
export class SnapshotReader {
  /** How often what was kept helped. */
  readonly counts = { process: { hit: 0, miss: 0 }, redis: { hit: 0, miss: 0 } };
  private readonly kept = new LRUCache<Address, WalletPart>({ max: MAX_WALLETS });
  private readonly now: IndexNow<AskedWallet, Found | undefined>;

  constructor(
    private readonly store: SnapshotStore | StandbyReads,
    private readonly shared: RedisTexts | undefined,
    slowReadMs?: number,
  ) {
    this.now = new IndexNow((asked) => this.readAndKeep(asked), slowReadMs);
  }

  /**
   * Looks in Redis, under the version of the index that was seen last, for a wallet that is not kept here. Never fails.
   * @returns undefined where there is nothing to look for
   */
  fetchShared(asked: AskedWallet): Promise<void> | undefined {
    const { shared, store } = this;
    if (shared === undefined || store.seen === undefined) return undefined;
    if (this.keptOf(asked) !== undefined) return undefined;
    const { wallet, endDay } = asked;
    const version = versionOf(store.seen, endDay);
    return shared.get(keyOf(wallet, endDay, version)).then((daysText) => {
      // Others can write there: what is no such text counts as not there.
      const isHit = daysText !== undefined && isDaysText(daysText);
      this.counts.redis[isHit ? 'hit' : 'miss'] += 1;
      if (isHit) this.kept.set(wallet, { endDay, version, daysText });
    });
  }

  /**
   * Undefined where there is no index yet.
   * @param fetched by `fetchShared`, where it was called before
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async read(
    asked: AskedWallet,
    fetched: Promise<void> | undefined = this.fetchShared(asked),
  ): Promise<IndexedWallet | undefined> {
    const { wallet, endDay } = asked;
    if (fetched !== undefined) await fetched;
    for (;;) {
      const found = await this.now.read(asked);
      if (found === undefined) return undefined;
      const { state, parts, missing } = found;
      const part = parts.get(wallet);
      // Where the index has changed since it was seen last, the next read brings the wallet as well.
      if (part?.endDay !== endDay) continue;
      if (!missing.has(wallet)) this.counts.process.hit += 1;
      return { state, part };
    }
  }

  /**
   * Many wallets as of one state of the index, by a statement of their own, for which no other request waits. Nothing is kept of them: those
   * who ask for all their wallets in turn would drive out the ones that are asked for again. Undefined where there is no index yet.
   * @param wallets each once
   * @param begin makes what takes them, piece by piece in this order, while the next ones are read; perhaps more than once
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  readWindow<S extends WindowSink>(
    wallets: readonly Address[],
    days: AskedDays,
    begin: (state: SnapshotState) => S,
  ): Promise<WindowRead<S> | undefined> {
    return this.store.readWindow(wallets, days, begin);
  }

  /** As `read`, of a day of the past: nothing is kept either. */
  async readApart(asked: AskedWallet): Promise<IndexedWallet | undefined> {
    const { state, daysTexts } = (await this.store.read([asked])) ?? {};
    return state && { state, part: { daysText: daysTexts?.[0] } };
  }

  /** Undefined where there is no index yet. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async readState(): Promise<SnapshotState | undefined> {
    return (await this.store.read())?.state;
  }

  /** Of a wallet, a page of its changes; nothing of it is kept. @throws DatabaseUnavailableError, DatabaseRefusedError */
  readHistory(asked: AskedHistory): Promise<HistoryRead | undefined> {
    return this.store.readHistory(asked);
  }

  private async readAndKeep(asked: readonly AskedWallet[]): Promise<Found | undefined> {
    const { seen } = this.store;
    const parts = new Map<Address, WalletPart>();
    const missing = new Map<Address, AskedWallet>();
    for (const one of asked) {
      const { wallet, endDay } = one;
      if (parts.get(wallet)?.endDay === endDay) continue;
      const kept = this.keptOf(one);
      if (kept && seen && belongs(kept, seen)) parts.set(wallet, kept);
      else missing.set(wallet, one);
    }
    this.counts.process.miss += missing.size;
    const read = await this.store.read([...missing.values()]);
    if (read === undefined) return undefined;
    const { state, daysTexts } = read;
    if (state !== seen) {
      for (const [wallet, kept] of parts) if (!belongs(kept, state)) parts.delete(wallet);
    }
    let place = 0;
    for (const { wallet, endDay } of missing.values()) {
      const daysText = daysTexts[place++];
      const part = { endDay, version: partVersionOf(state, endDay, daysText), daysText };
      parts.set(wallet, part);
      this.keep(wallet, part);
    }
    return { state, parts, missing: new Set(missing.keys()) };
  }

  private keep(wallet: Address, part: WalletPart): void {
    this.kept.set(wallet, part);
    const { endDay, version, daysText } = part;
    if (daysText === undefined) return;
    this.shared?.set(keyOf(wallet, endDay, version), daysText, SHARED_TTL_SECONDS);
  }

  /** Kept in this process for the day, of whatever version. */
  private keptOf({ wallet, endDay }: AskedWallet): WalletPart | undefined {
    const kept = this.kept.get(wallet);
    return kept?.endDay === endDay ? kept : undefined;
  }
}

/**
 * The version of what lies before a day. Once the head is past the day's beginning nothing before it changes any more, unless
 * something is taken back, and then the generation is another. Until then every block may change it.
 */
function versionOf(state: SnapshotState, endDay: number): string {
  return state.head.timestampSeconds >= endDay * SECONDS_PER_DAY
    ? state.generation
    : headVersionOf(state);
}

/** A wallet that never staked may do so in the next block. */
function headVersionOf({ generation, head }: SnapshotState): string {
  return `${generation}:${head.hash}`;
}

/** The version of a wallet's part that is read now. */
function partVersionOf(state: SnapshotState, endDay: number, daysText: string | undefined): string {
  return daysText === undefined ? headVersionOf(state) : versionOf(state, endDay);
}

function belongs({ endDay, version, daysText }: WalletPart, state: SnapshotState): boolean {
  return version === partVersionOf(state, endDay, daysText);
}

function keyOf(wallet: Address, endDay: number, version: string): string {
  return `part:${wallet}:${endDay}:${version}`;
}

/** After this time a read under way no longer holds up others: its connection may be stuck. */
const SLOW_MS = 100;

interface Batch<Q, A> {
  readonly questions: Q[];
  readonly answer: Promise<A>;
  readonly start: () => void;
}

/**
 * What is so now. Each read begins after the questions that it answers, so that nothing that was committed before is missed. All who
 * ask while a read is under way share the next one, so that reads are few however many ask.
 */
export class IndexNow<Q, A> {
  private next: Batch<Q, A> | undefined;
  private underWay = 0;
  private slowTimer: NodeJS.Timeout | undefined;

  /** @param source reads for all questions at once */
  constructor(
    private readonly source: (questions: readonly Q[]) => Promise<A>,
    private readonly slowMs = SLOW_MS,
  ) {}

  /** @throws what the source throws */
  read(question: Q): Promise<A> {
    this.next ??= this.newBatch();
    this.next.questions.push(question);
    return this.next.answer;
  }

  private newBatch(): Batch<Q, A> {
    const questions: Q[] = [];
    let settle!: (answer: Promise<A>) => void;
    const answer = new Promise<A>((resolve) => (settle = resolve));
    const start = (): void => {
      this.next = undefined;
      this.underWay += 1;
      const reading = this.source(questions);
      const done = (): void => {
        this.underWay -= 1;
        this.startNext();
      };
      reading.then(done, done);
      settle(reading);
    };
    // The rest of this turn of the event loop joins.
    if (this.underWay === 0) setImmediate(this.startIfStill, start);
    else this.slowTimer ??= setTimeout(this.startSlow, this.slowMs);
    return { questions, answer, start };
  }

  private readonly startIfStill = (start: () => void): void => {
    if (this.next?.start === start) start();
  };

  private readonly startSlow = (): void => {
    this.slowTimer = undefined;
    // Where this process was busy itself the answer may be there already: it is looked at first.
    if (this.next !== undefined) setImmediate(this.startIfStill, this.next.start);
  };

  private startNext(): void {
    clearTimeout(this.slowTimer);
    this.slowTimer = undefined;
    const { next } = this;
    if (next !== undefined) setImmediate(this.startIfStill, next.start);
  }
}
