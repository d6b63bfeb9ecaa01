import { type Database, readWalPosition, SnapshotStore } from '#libs/db';
import { type Clock, DatabaseUrl, messageOf, withTimeout } from '#libs/platform';
import { type WalHistory } from './wal-history.js';

/**
 * Longest time for a read, in milliseconds. A slower read is repeated on another server, because the standby or the
 * network is stuck.
 */
const ANSWER_MS = 500;
/** Longest wait for a connection to close, in milliseconds. */
const CLOSE_MS = 1000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** Why a read was repeated on another server. */
export const FALLBACKS = ['failed', 'older', 'without-primary'] as const;
export type Fallback = (typeof FALLBACKS)[number];

interface Connected {
  readonly database: Database;
  /** Stores by the name of the stake set. */
  readonly stores: Map<string, SnapshotStore>;
}

export interface StandbyOptions {
  readonly url: string;
  /** Opens a read-only connection pool. */
  readonly open: (url: string) => Promise<Database>;
  readonly history: WalHistory;
  /** The primary's system identifier; undefined before the primary answered. */
  readonly primarySystem: () => string | undefined;
  readonly clock: Clock;
}

/**
 * A server that replays the primary's log. Probes tell how far it has replayed, and reads are made on it. After a
 * failure it is not used for a pause that doubles with each failure in a row, until it has answered a probe again.
 */
export class Standby {
  /** Host and port. */
  readonly name: string;
  /**
   * Identity of the server behind the address. Replaced after each failure, because another server may then have the
   * address. What a read or a probe finds counts only while the session in which it began lasts.
   */
  session: object = {};
  /** Why the standby is not used; undefined while it answers. */
  reason: string | undefined = 'has not been reached yet';
  /** Reads that the standby served, and reads that were repeated on another server. */
  readonly counts = { reads: 0, fallbacks: { failed: 0, older: 0, 'without-primary': 0 } };
  /** Number of probes that the standby answered. */
  probes = 0;
  /** Replayed position in the log at the last probe. */
  bytes = 0n;
  private connected: Connected | undefined;
  private levelMs: number | undefined;
  private answeredAtMs = -Infinity;
  private probedAtQuestion = 0;
  private failures = 0;
  private nextProbeMs = -Infinity;
  private looking: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly options: StandbyOptions) {
    this.name = DatabaseUrl.parse(options.url).hosts.join(',') || 'local socket';
  }

  /** Upper bound of the replication lag; undefined where it is unknown. */
  get lagMs(): number | undefined {
    if (this.reason !== undefined || this.levelMs === undefined) return undefined;
    return Math.max(0, this.options.clock.nowMs() - this.levelMs);
  }

  /** Whether a probe that began within this time succeeded, with no failure since. */
  hasAnsweredWithin(ms: number): boolean {
    return this.reason === undefined && this.options.clock.nowMs() - this.answeredAtMs <= ms;
  }

  /** Starts a probe, unless one is running or the pause after a failure is not over. */
  probe(): void {
    if (this.isClosed || this.looking !== undefined || performance.now() < this.nextProbeMs) return;
    // The primary has not answered yet, so there is nothing to compare the standby with.
    if (this.options.primarySystem() === undefined) return;
    const { session } = this;
    this.looking = this.lookNow(session)
      .catch((error: unknown) => {
        this.fail(messageOf(error), session);
      })
      .finally(() => {
        this.looking = undefined;
      });
  }

  /**
   * @returns undefined where the standby did not answer in time or failed, also by another read meanwhile; the standby
   *   is then not used for a pause
   */
  async read<R>(ask: AskStore<R>, set: string): Promise<R | undefined> {
    const { connected, session } = this;
    if (connected === undefined) return undefined;
    try {
      const read = await withTimeout(ANSWER_MS, ask(storeOf(connected, set)), () => {
        throw new Error(`did not answer a read within ${ANSWER_MS} ms`);
      });
      if (session !== this.session) return undefined;
      this.failures = 0;
      return read;
    } catch (error) {
      this.fail(messageOf(error), session);
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const closing = Promise.resolve(this.looking).then(() => this.connected?.database.close());
    await withTimeout(CLOSE_MS, closing, () => undefined);
  }

  private async lookNow(session: object): Promise<void> {
    const { history, clock, primarySystem } = this.options;
    const { database } = await this.connect();
    const atMs = clock.nowMs();
    const { isStandby, bytes, system } = await readWalPosition(database);
    if (session !== this.session) return;
    if (!isStandby) throw new Error('is no standby: it can be written');
    if (system !== primarySystem()) throw new Error('is no standby of the server of DATABASE_URL');
    if (history.isShorterThan(this.bytes, this.probedAtQuestion)) {
      this.bytes = bytes;
      this.probedAtQuestion = history.questionsBegun;
      throw new Error('has more than the primary: it followed another one');
    }
    const level = history.levelAt(bytes);
    if (level !== undefined) this.levelMs = level;
    this.bytes = bytes;
    this.probedAtQuestion = history.questionsBegun;
    this.answeredAtMs = atMs;
    this.probes += 1;
    this.reason = undefined;
  }

  private async connect(): Promise<Connected> {
    if (this.connected === undefined) {
      const database = await this.options.open(this.options.url);
      if (this.isClosed) {
        await database.close();
        throw new Error('was closed');
      }
      this.connected = { database, stores: new Map() };
    }
    return this.connected;
  }

  /** Reads that fail together are one failure. */
  private fail(reason: string, session: object): void {
    if (session !== this.session) return;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures += 1;
    this.nextProbeMs = performance.now() + pauseMs;
    this.reason = reason;
    this.levelMs = undefined;
    this.session = {};
  }
}

export type AskStore<R> = (store: SnapshotStore) => Promise<R | undefined>;

function storeOf({ database, stores }: Connected, set: string): SnapshotStore {
  let store = stores.get(set);
  if (store === undefined) stores.set(set, (store = new SnapshotStore(database.inSet(set))));
  return store;
}
