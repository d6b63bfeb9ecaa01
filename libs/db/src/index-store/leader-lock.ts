import { createHash } from 'node:crypto';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { connectionOptions, type DatabaseOptions } from '../connection/connection-options.js';
import { databaseError } from '../connection/database.error.js';
import { SupervisedClient, type SupervisedConfig } from '../connection/supervised-client.js';

/** The two numbers of an advisory lock. */
export type LockNumbers = readonly [number, number];

/** Any two numbers: one indexer for each stake set of each database. */
const LEADER_LOCK: LockNumbers = [0x10_77, 2];
const LEADER_LOCKS_OF_SETS = 0x10_78;

/** Of the sets but the default one the second number is a hash of the name. */
export function leaderLockOf(set: string): LockNumbers {
  if (set === DEFAULT_STAKE_SET) return LEADER_LOCK;
  return [LEADER_LOCKS_OF_SETS, createHash('sha256').update(set).digest().readInt32BE()];
}

const HEARTBEAT_TIMEOUT_MS = 5000;

export interface LeaderTimings {
  readonly heartbeatMs: number;
  /** The server ends the session, and so frees the lock, of a leader that was silent for so long. Several heartbeats. */
  readonly silentMs: number;
}

const TIMINGS: LeaderTimings = { heartbeatMs: 2000, silentMs: 8000 };

/**
 * The right to write the index, held for as long as one connection of its own lives: idle -> held -> lost or released. A leader
 * that is stopped, or whose machine is gone without a word, keeps its connection: there the server ends the session after a time
 * without heartbeats. It keeps a second indexer from working in vain; what keeps it from harm is the fence of IndexStore.
 */
export class LeaderLock {
  private client: SupervisedClient | undefined;
  private readonly config: SupervisedConfig;
  private heartbeat: NodeJS.Timeout | undefined;
  private settle: (reason: Error) => void = () => undefined;
  private ending = false;

  /** Resolves with the reason once a lock that was held is lost; never after `release`. A new promise with each acquisition. */
  lost: Promise<Error> = new Promise(() => undefined);

  /** @param options of a database that is not behind a pooler: it is the session that holds the lock */
  constructor(
    options: DatabaseOptions,
    private readonly lock: LockNumbers = LEADER_LOCK,
    private readonly timings = TIMINGS,
  ) {
    const config = connectionOptions({ ...options, statementTimeoutMs: HEARTBEAT_TIMEOUT_MS });
    this.config = {
      ...config,
      session: { ...config.session, idle_session_timeout: String(timings.silentMs) },
      query_timeout: HEARTBEAT_TIMEOUT_MS,
    };
  }

  get held(): boolean {
    return this.client !== undefined;
  }

  /**
   * False where another process has the lock.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async tryAcquire(): Promise<boolean> {
    if (this.client !== undefined) return true;
    let client: SupervisedClient | undefined;
    try {
      client = await this.config.supervision.hosts.attempt(() => this.acquire());
    } catch (error) {
      throw databaseError(error);
    }
    if (client === undefined) return false;
    this.hold(client);
    return true;
  }

  /** Gives the lock back; does nothing where it is not held. */
  async release(): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    this.ending = true;
    this.forget();
    await client.close();
    this.ending = false;
  }

  /** Undefined where another session has the lock. */
  private async acquire(): Promise<SupervisedClient | undefined> {
    const client = new SupervisedClient(this.config);
    // Before the lock is held there is no listener to tell; connect and query report their own failures.
    client.on('error', (error) => {
      this.lose(client, error);
    });
    client.on('end', () => {
      this.lose(client, new Error('the connection ended'));
    });
    try {
      await client.connect();
      const { rows } = (await client.query('SELECT pg_try_advisory_lock($1, $2) AS held', [
        ...this.lock,
      ])) as { rows: { held: boolean }[] };
      if (rows[0]?.held === true) return client;
      await client.close();
      return undefined;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  private hold(client: SupervisedClient): void {
    this.client = client;
    this.lost = new Promise((resolve) => {
      this.settle = resolve;
    });
    // A server that vanished without a word is noticed at the time limit of the next heartbeat.
    this.heartbeat = setInterval(() => {
      (client.query('SELECT 1') as Promise<unknown>).catch((error: unknown) => {
        this.lose(client, error as Error);
      });
    }, this.timings.heartbeatMs).unref();
  }

  private lose(client: SupervisedClient, reason: Error): void {
    if (this.client !== client || this.ending) return;
    this.forget();
    this.settle(reason);
    // The session may still live on the server and hold the lock.
    void client.close();
  }

  private forget(): void {
    clearInterval(this.heartbeat);
    this.client = undefined;
  }
}
