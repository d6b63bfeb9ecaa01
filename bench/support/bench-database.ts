/**
 * One PostgreSQL for a whole benchmark, with default settings and so default durability. Each run gets an empty
 * database.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { table } from './figures.js';
import { familyCpuSeconds } from './program.js';

/** Server settings that `printStatements` needs; they cost a few per cent of speed. */
export const STATEMENT_STATISTICS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
};

/** Prints the cost of the statements since the last reset, including statements inside triggers. */
export async function printStatements(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(`
    SELECT calls::text, round(total_exec_time)::text AS ms, round(max_exec_time::numeric, 1)::text AS longest,
      (wal_bytes / 1048576)::int::text AS wal, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS query
    FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid AND d.datname = current_database()
    ORDER BY total_exec_time DESC LIMIT 12`);
  table(
    ['statement', 'calls', 'ms', 'longest ms', 'WAL MiB'],
    rows.map((row) =>
      [row['query'], row['calls'], row['ms'], row['longest'], row['wal']].map(String),
    ),
  );
}

export class BenchServer {
  #made = 0;
  /** Connection string, which stays the same over restarts. */
  readonly #url: string;

  private constructor(
    readonly folder: string,
    private server: EmbeddedPostgres,
  ) {
    this.#url = server.url;
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<BenchServer> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-bench-'));
    const server = await EmbeddedPostgres.start({ ...filesIn(folder), settings });
    const bench = new BenchServer(folder, server);
    await bench.warmUp();
    return bench;
  }

  /**
   * Makes the server create WAL files once. Creating files is slower than recycling them, and would slow down the first
   * measurement.
   */
  private async warmUp(): Promise<void> {
    await this.admin(
      `CREATE TABLE warm AS SELECT repeat(md5(n::text), 20) AS text FROM generate_series(1, 500000) AS n`,
      'DROP TABLE warm',
      'CHECKPOINT',
    );
  }

  /** Restarts the server with other settings under the same URLs. All connections must be closed before. */
  async restart(settings: Readonly<Record<string, string>>): Promise<void> {
    const { port, password } = new URL(this.#url);
    await this.server.stop();
    const { folder } = this;
    const options = { ...filesIn(folder), password, settings: { ...settings, port } };
    this.server = await EmbeddedPostgres.start(options);
  }

  /** Runs `use` with an empty, migrated database, and drops the database afterwards. */
  async withDatabase<T>(use: (url: string, client: pg.Client) => Promise<T>): Promise<T> {
    const name = `bench_${++this.#made}`;
    const url = new URL(this.#url);
    await this.admin(`CREATE DATABASE ${name}`);
    url.pathname = `/${name}`;
    await migrate(url.href);
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      // Writes out the dirty pages of earlier runs, so that they are not written during this one.
      await client.query('CHECKPOINT');
      return await use(url.href, client);
    } finally {
      await client.end();
      await this.admin(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  }

  /** CPU seconds of all processes of the server so far. */
  cpuSeconds(): number {
    return familyCpuSeconds(this.server.process.pid ?? 0);
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async admin(...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
}

function filesIn(folder: string): { directory: string; logFile: string } {
  return { directory: join(folder, 'data'), logFile: join(folder, 'postgres.log') };
}
