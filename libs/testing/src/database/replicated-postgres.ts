/**
 * A PostgreSQL primary with streaming standbys. All are real servers that belong to one test, which may kill and
 * suspend each of them.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { migrate, prepareLogins, PROGRAMS } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { freePort } from '#libs/devprocess';
import { eventually } from '../clock/eventually.js';
import { TestDatabase } from './test-database.js';

const NAME = 'lowmark_replicated';
/** Small WAL segments keep the copies of the data folder small. */
const INITDB_FLAGS = ['--no-sync', '--set=scram_iterations=1', '--wal-segsize=1'];
const SETTINGS = {
  fsync: 'off',
  autovacuum: 'off',
  scram_iterations: '1',
  max_connections: '50',
  // Keeps enough WAL for a standby that was disconnected for a while.
  wal_keep_size: '256MB',
  wal_retrieve_retry_interval: '100ms',
};

const run = promisify(execFile);

/** One of the servers. Its port stays the same over restarts. */
export class ReplicatedServer {
  private server: EmbeddedPostgres | undefined;

  constructor(
    private readonly folder: string,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly password: string,
    private readonly port: number,
  ) {}

  /** Connection string of a superuser, to the migrated database. */
  get url(): string {
    return `postgresql://lowmark:${this.password}@127.0.0.1:${this.port}/${NAME}?sslmode=disable`;
  }

  urlAs(program: 'api' | 'cli'): string {
    return new TestDatabase(NAME, this.url).urlAs(program);
  }

  get pid(): number {
    return this.server?.process.pid ?? 0;
  }

  /** Also works after `kill`: retries until the processes of the killed server have ended. */
  async start(): Promise<void> {
    for (let tries = 1; this.server === undefined; tries += 1) {
      try {
        this.server = await EmbeddedPostgres.start({
          directory: join(this.folder, 'data'),
          logFile: join(this.folder, 'postgres.log'),
          password: this.password,
          settings: { ...SETTINGS, ...this.settings, port: String(this.port) },
        });
      } catch (error) {
        if (tries === 50) throw error;
        await sleep(200);
      }
    }
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.server?.process.ended;
    this.server = undefined;
  }

  /** Suspends the server and its backends. Connections and bytes are still accepted, but get no answer. */
  freeze(): void {
    for (const pid of this.family()) process.kill(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.family()) process.kill(pid, 'SIGCONT');
  }

  async query<R extends pg.QueryResultRow>(text: string): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query<R>(text)).rows;
    } finally {
      await client.end();
    }
  }

  private family(): number[] {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').trim();
    return [this.pid, ...(children === '' ? [] : children.split(' ').map(Number))];
  }
}

export class ReplicatedPostgres {
  private constructor(
    private readonly folder: string,
    readonly primary: ReplicatedServer,
    readonly standbys: readonly ReplicatedServer[],
  ) {}

  /**
   * @param count standbys, made as copies of the migrated primary
   * @param settings for all servers; they override the defaults that make tests fast
   */
  static async start(
    count: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<ReplicatedPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-replicated-'));
    await chmod(folder, 0o755);
    const { password } = await migratedFolder(join(folder, 'primary'));
    const ports = await freePorts(count + 1);
    const [primary, ...standbys] = ports.map(
      (port, place) => new ReplicatedServer(folderOf(folder, place), settings, password, port),
    ) as [ReplicatedServer, ...ReplicatedServer[]];
    for (const place of standbys.keys()) {
      await copyAsStandby(folder, place + 1, { port: ports[0] ?? 0, password });
    }
    const replicated = new ReplicatedPostgres(folder, primary, standbys);
    try {
      await primary.start();
      await Promise.all(standbys.map((standby) => standby.start()));
      await replicated.level();
      return replicated;
    } catch (error) {
      await replicated.stop();
      throw error;
    }
  }

  /** The migrated database on the primary, as a superuser. */
  get database(): TestDatabase {
    return new TestDatabase(NAME, this.primary.url);
  }

  /** Waits until all standbys, or the given ones, have replayed the primary's current WAL position. */
  async level(standbys: readonly ReplicatedServer[] = this.standbys): Promise<void> {
    const [row] = await this.primary.query<{ lsn: string }>(
      'SELECT pg_current_wal_lsn()::text AS lsn',
    );
    for (const standby of standbys) {
      await eventually(async () => {
        const [has] = await standby.query<{ all: boolean }>(
          `SELECT coalesce(pg_last_wal_replay_lsn() >= '${row?.lsn ?? ''}', false) AS all`,
        );
        return has?.all === true;
      });
    }
  }

  async stop(): Promise<void> {
    // Stops the primary last: its shutdown waits until the connected standbys have received all WAL.
    for (const server of [...this.standbys, this.primary]) await server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function folderOf(folder: string, place: number): string {
  return join(folder, place === 0 ? 'primary' : `standby-${place}`);
}

/** Creates a data folder with the migrated database and the programs' users. The server is stopped at the end. */
async function migratedFolder(folder: string): Promise<{ password: string }> {
  const server = await EmbeddedPostgres.start({
    directory: join(folder, 'data'),
    logFile: join(folder, 'postgres.log'),
    initdbFlags: INITDB_FLAGS,
    settings: SETTINGS,
  });
  try {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${NAME}`);
    await client.end();
    const url = new URL(server.url);
    url.pathname = `/${NAME}`;
    await migrate(url.href);
    const test = new TestDatabase(NAME, url.href);
    const logins = Object.fromEntries(PROGRAMS.map((program) => [program, test.urlAs(program)]));
    await prepareLogins(url.href, logins);
    return { password: url.password };
  } finally {
    await server.stop();
  }
}

async function copyAsStandby(
  folder: string,
  place: number,
  { port, password }: { port: number; password: string },
): Promise<void> {
  const to = folderOf(folder, place);
  await run('cp', ['-a', folderOf(folder, 0), to]);
  await writeFile(join(to, 'data', 'standby.signal'), '');
  const address = `host=127.0.0.1 port=${port} user=lowmark password=${password} sslmode=disable`;
  await appendFile(join(to, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${address}'\n`);
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
