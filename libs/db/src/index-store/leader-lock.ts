import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { connectionOptions, type DatabaseOptions } from '../connection/connection-options.js';
import { databaseError } from '../connection/database.error.js';
import { type IndexPart, schemaOf } from '../connection/stake-set.js';
import { CheckedClient, type CheckedConfig } from '../connection/checked-client.js';

/** The two numbers that identify an advisory lock. */
export type LockNumbers = readonly [number, number];

/** Arbitrary numbers. An advisory lock belongs to one database, so each stake set of each database has one leader. */
const LEADER_LOCK: LockNumbers = [0x10_77, 2];
const LEADER_LOCKS_OF_SETS = 0x10_78;
const REINDEXING_LOCKS = 0x10_79;

/**
 * For stake sets other than the default one, and for indexes that are not in use, the second number is a hash of the
 * name.
 */
export function leaderLockOf(set: string, part: IndexPart = 'current'): LockNumbers {
  if (set === DEFAULT_STAKE_SET && part === 'current') return LEADER_LOCK;
  return [LEADER_LOCKS_OF_SETS, numberOf(part === 'current' ? set : schemaOf(set, part))];
}

/** Held by the command that indexes a set again. */
export function reindexingLockOf(set: string): LockNumbers {
  return [REINDEXING_LOCKS, numberOf(set)];
}

function numberOf(name: string): number {
  return createHash('sha256').update(name).digest().readInt32BE();
}

const HEARTBEAT_TIMEOUT_MS = 5000;

/** Ends the session that holds the lock, once this session waits for it and so gets it before any other. */
const END_HOLDER = `SELECT pg_terminate_backend(held.pid) FROM pg_locks held
  JOIN pg_locks awaited USING (locktype, database, classid, objid, objsubid)
  WHERE held.locktype = 'advisory' AND held.granted AND NOT awaited.granted AND awaited.pid = $1::int
    AND (held.classid::int8, held.objid::int8) = ($2::int8, $3::int8)
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const BETWEEN_ENDS_MS = 50;

export interface LeaderTimings {
  readonly heartbeatMs: number;
  /**
   * Milliseconds of silence after which the server ends the leader's session, which frees the lock.
   * Several heartbeats long.
   */
  readonly silentMs: number;
}

const TIMINGS: LeaderTimings = { heartbeatMs: 2000, silentMs: 8000 };

/**
 * The right to write the index: an advisory lock of one connection of its own. Its states are idle -> held ->
 * lost or released. A leader that is stopped, or whose machine disappears, keeps its connection, so the server
 * ends a session without heartbeats. The lock only saves a second indexer useless work; the fencing token of
 * IndexStore protects the data.
 */
export class LeaderLock {
  private client: CheckedClient | undefined;
  private readonly config: CheckedConfig;
  private heartbeat: NodeJS.Timeout | undefined;
  private settle: (reason: Error) => void = () => undefined;
  private ending = false;

  /** Resolves with the reason when a held lock is lost, never after `release`. Each acquisition makes a new promise. */
  lost: Promise<Error> = new Promise(() => undefined);

  /** @param options of a database that is not behind a pooler, because the session holds the lock */
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
   * @returns false where another process has the lock
   */
  async tryAcquire(): Promise<boolean> {
    if (this.client !== undefined) return true;
    let client: CheckedClient | undefined;
    try {
      client = await this.acquire();
    } catch (error) {
      throw databaseError(error);
    }
    if (client === undefined) return false;
    this.hold(client);
    return true;
  }

  /**
   * Takes the lock from the process that holds it, which stands by from then on.
   * @throws DatabaseUnavailableError, DatabaseRefusedError (this user may not end the other's session)
   */
  async seize(): Promise<void> {
    if (this.client !== undefined) return;
    try {
      this.hold(await this.acquireFromHolder());
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** Releases the lock. Does nothing where the lock is not held. */
  async release(): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    this.ending = true;
    this.forget();
    await client.end();
    this.ending = false;
  }

  private newClient(): CheckedClient {
    const client = new CheckedClient(this.config);
    // Before the lock is held, `lose` ignores errors: connect and query report them.
    client.on('error', (error) => {
      this.lose(client, error);
    });
    client.on('end', () => {
      this.lose(client, new Error('the connection ended'));
    });
    return client;
  }

  private async acquireFromHolder(): Promise<CheckedClient> {
    const [client, ender] = [this.newClient(), this.newClient()];
    try {
      await Promise.all([client.connect(), ender.connect()]);
      const { rows } = (await client.query('SELECT pg_backend_pid() AS pid')) as {
        rows: { pid: number }[];
      };
      // pg_locks shows the numbers without their signs.
      const values = [rows[0]?.pid, ...this.lock.map((number) => number >>> 0)];
      const wait = 'SELECT pg_advisory_lock($1, $2)';
      const held = (client.query(wait, [...this.lock]) as Promise<unknown>).then(() => true);
      for (;;) {
        const ended = ender.query(END_HOLDER, values) as Promise<unknown>;
        const pause = ended.then(() => sleep(BETWEEN_ENDS_MS)).then(() => false);
        if (await Promise.race([held, pause])) return client;
      }
    } catch (error) {
      await client.end();
      throw error;
    } finally {
      await ender.end();
    }
  }

  /** @returns undefined where another session has the lock */
  private async acquire(): Promise<CheckedClient | undefined> {
    const client = this.newClient();
    try {
      await client.connect();
      const { rows } = (await client.query('SELECT pg_try_advisory_lock($1, $2) AS held', [
        ...this.lock,
      ])) as { rows: { held: boolean }[] };
      if (rows[0]?.held === true) return client;
      await client.end();
      return undefined;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  private hold(client: CheckedClient): void {
    this.client = client;
    this.lost = new Promise((resolve) => {
      this.settle = resolve;
    });
    // A heartbeat that exceeds its time limit detects a server that disappeared.
    this.heartbeat = setInterval(() => {
      (client.query('SELECT 1') as Promise<unknown>).catch((error: unknown) => {
        this.lose(client, error as Error);
      });
    }, this.timings.heartbeatMs).unref();
  }

  private lose(client: CheckedClient, reason: Error): void {
    if (this.client !== client || this.ending) return;
    this.forget();
    this.settle(reason);
    // The session may still live on the server and hold the lock.
    void client.end();
  }

  private forget(): void {
    clearInterval(this.heartbeat);
    this.client = undefined;
  }
}
