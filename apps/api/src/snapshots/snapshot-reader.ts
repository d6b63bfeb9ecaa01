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
import { type WalletAnswer } from './snapshot-answer.js';

/** Size of the cache of this process, in wallets of at most some 5 KB each. */
const MAX_WALLETS = 10_000;
const SHARED_TTL_SECONDS = 86_400;

/** The part of an answer that comes from the wallet's rows, and the day and index version for which it is valid. */
interface CachedWalletRows extends WalletAnswer {
  /** Days since 1970-01-01 UTC, exclusive. */
  readonly endDay: number;
  /** Index version of the part; see `versionOf`. */
  readonly version: string;
}

/** The part of an answer that comes from the wallet's rows, and the state of the index to which it belongs. */
export interface IndexedWallet {
  readonly state: SnapshotState;
  readonly part: WalletAnswer;
}

/** The parts of several wallets, and the one state of the index to which all of them belong. */
interface Found {
  readonly state: SnapshotState;
  readonly parts: ReadonlyMap<Address, CachedWalletRows>;
  /** Wallets that were not cached. */
  readonly missing: ReadonlySet<Address>;
}

export interface ReaderOptions {
  readonly slowReadMs?: number | undefined;
  readonly cachedWallets?: number;
}

/**
 * Reads wallets as of now. Each read runs a statement that begins after the request. It reads the state of the index,
 * and the rows of those requested wallets that are not cached. Cached parts, in this process and in Redis, carry the
 * index version that they were read from and are used only under this version, so nothing ever has to be invalidated.
 */
export class SnapshotReader {
  /** Cache hits and misses, by layer. */
  readonly counts = { process: { hit: 0, miss: 0 }, redis: { hit: 0, miss: 0 } };
  private readonly kept: LRUCache<Address, CachedWalletRows>;
  private readonly now: CoalescedReads<AskedWallet, Found | undefined>;

  constructor(
    private readonly store: SnapshotStore,
    private readonly shared: RedisTexts | undefined,
    { slowReadMs, cachedWallets = MAX_WALLETS }: ReaderOptions = {},
  ) {
    this.kept = new LRUCache({ max: cachedWallets });
    this.now = new CoalescedReads((asked) => this.readAndKeep(asked), slowReadMs);
  }

  /**
   * Looks for a wallet in Redis, under the index version that was seen last, where this process has no cached part for
   * the wallet and the day. Never rejects.
   * @returns undefined where nothing is to be fetched: without Redis, before the first read, or with a cached part
   */
  fetchShared(asked: AskedWallet): Promise<void> | undefined {
    const { shared, store } = this;
    if (shared === undefined || store.seen === undefined) return undefined;
    if (this.cachedPart(asked) !== undefined) return undefined;
    const { wallet, endDay } = asked;
    const version = versionOf(store.seen, endDay);
    return shared.get(keyOf(wallet, endDay, version)).then((daysText) => {
      // Other clients can write to Redis, so a malformed text counts as a miss.
      const isHit = daysText !== undefined && isDaysText(daysText);
      this.counts.redis[isHit ? 'hit' : 'miss'] += 1;
      if (isHit) this.kept.set(wallet, { endDay, version, daysText });
    });
  }

  /**
   * @param fetched the promise of `fetchShared`, where the caller has called it already
   * @returns undefined where there is no index yet
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
      // Reads again where the cached part belongs to an older version than the state just read, or where another
      // request brought the wallet with another day.
      if (part?.endDay !== endDay) continue;
      if (!missing.has(wallet)) this.counts.process.hit += 1;
      return { state, part };
    }
  }

  /**
   * Reads many wallets from one state of the index, by a statement of their own for which no other request waits.
   * Nothing is cached: partners that request all their wallets in turn would evict the wallets that are requested
   * repeatedly.
   * @param wallets without duplicates
   * @param begin makes the sink, which takes the wallets piece by piece, in this order, while further ones are read
   * @returns undefined where there is no index yet
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  readWindow<S extends WindowSink>(
    wallets: readonly Address[],
    days: AskedDays,
    begin: (state: SnapshotState) => S,
  ): Promise<WindowRead<S> | undefined> {
    return this.store.readWindow(wallets, days, begin);
  }

  /** Reads a wallet for a window of the past, without the cache. Result and errors are those of `read`. */
  async readUncached(asked: AskedWallet): Promise<IndexedWallet | undefined> {
    const { state, daysTexts } = (await this.store.read([asked])) ?? {};
    return state && { state, part: { daysText: daysTexts?.[0] } };
  }

  /**
   * @returns undefined where there is no index yet
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async readState(): Promise<SnapshotState | undefined> {
    return (await this.store.read())?.state;
  }

  /**
   * Reads a page of a wallet's changes, without the cache.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  readHistory(asked: AskedHistory): Promise<HistoryRead | undefined> {
    return this.store.readHistory(asked);
  }

  private async readAndKeep(asked: readonly AskedWallet[]): Promise<Found | undefined> {
    const { seen } = this.store;
    const parts = new Map<Address, CachedWalletRows>();
    const missing = new Map<Address, AskedWallet>();
    for (const one of asked) {
      const { wallet, endDay } = one;
      if (parts.get(wallet)?.endDay === endDay) continue;
      const kept = this.cachedPart(one);
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

  private keep(wallet: Address, part: CachedWalletRows): void {
    this.kept.set(wallet, part);
    const { endDay, version, daysText } = part;
    if (daysText === undefined) return;
    this.shared?.set(keyOf(wallet, endDay, version), daysText, SHARED_TTL_SECONDS);
  }

  /** The part that is cached in this process for the wallet and the day, under whatever version. */
  private cachedPart({ wallet, endDay }: AskedWallet): CachedWalletRows | undefined {
    const kept = this.kept.get(wallet);
    return kept?.endDay === endDay ? kept : undefined;
  }
}

/**
 * The index version for days before `endDay`. Once the head is dated at `endDay` or later, only a rollback changes
 * these days, and it changes the generation. Until then any block may change them, so the version includes the head.
 */
function versionOf(state: SnapshotState, endDay: number): string {
  return state.head.timestampSeconds >= endDay * SECONDS_PER_DAY
    ? state.generation
    : headVersionOf(state);
}

/**
 * The index version that changes with each block. A wallet that never staked needs this one, because it may stake in
 * the next block.
 */
function headVersionOf({ generation, head }: SnapshotState): string {
  return `${generation}:${head.hash}`;
}

/** The version under which a part that was read with `state` is valid. */
function partVersionOf(state: SnapshotState, endDay: number, daysText: string | undefined): string {
  return daysText === undefined ? headVersionOf(state) : versionOf(state, endDay);
}

function belongs({ endDay, version, daysText }: CachedWalletRows, state: SnapshotState): boolean {
  return version === partVersionOf(state, endDay, daysText);
}

function keyOf(wallet: Address, endDay: number, version: string): string {
  return `part:${wallet}:${endDay}:${version}`;
}

/** Time after which a read no longer holds up later ones, in milliseconds: its connection may be stuck. */
const SLOW_MS = 100;

interface Batch<Q, A> {
  readonly questions: Q[];
  readonly answer: Promise<A>;
  readonly start: () => void;
}

/**
 * Coalesces concurrent reads. Each read starts after the requests that it serves, so they see every earlier commit. All
 * requests that come during a read share the next read, so there are few reads however many requests come.
 */
export class CoalescedReads<Q, A> {
  private next: Batch<Q, A> | undefined;
  private underWay = 0;
  private slowTimer: NodeJS.Timeout | undefined;

  /** @param source reads for all questions of a batch at once */
  constructor(
    private readonly source: (questions: readonly Q[]) => Promise<A>,
    private readonly slowMs = SLOW_MS,
  ) {}

  /** @throws the errors of the source */
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
    // All requests of this turn of the event loop join the batch.
    if (this.underWay === 0) setImmediate(this.startIfStill, start);
    else this.slowTimer ??= setTimeout(this.startSlow, this.slowMs);
    return { questions, answer, start };
  }

  private readonly startIfStill = (start: () => void): void => {
    if (this.next?.start === start) start();
  };

  private readonly startSlow = (): void => {
    this.slowTimer = undefined;
    // Where the process itself was busy, the answer of the running read may have arrived already. `setImmediate` lets
    // it be handled first.
    if (this.next !== undefined) setImmediate(this.startIfStill, this.next.start);
  };

  private startNext(): void {
    clearTimeout(this.slowTimer);
    this.slowTimer = undefined;
    const { next } = this;
    if (next !== undefined) setImmediate(this.startIfStill, next.start);
  }
}
