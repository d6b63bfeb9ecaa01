import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, type Database, type DatabaseOptions, type Program } from '#libs/db';

const TEMPLATE = 'lowmark_template';

/** A migrated database of its own for one test file, on the run's PostgreSQL. */
export class TestDatabase {
  private readonly opened: Database[] = [];

  constructor(
    readonly name: string,
    /** Of a superuser. */
    readonly url: string,
  ) {}

  /** The URL that a program is given where each has a user of its own. */
  urlAs(program: Program): string {
    const url = new URL(this.url);
    [url.username, url.password] = [`test_${program}`, `test_${program}`];
    return url.href;
  }

  /** A pool on it, closed by `drop`. */
  async open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
    const database = await createDatabase({
      url: this.url,
      applicationName: 'test',
      poolSize: 2,
      ...options,
    });
    this.opened.push(database);
    return database;
  }

  /** Empties all tables: faster than another database where each test wants a fresh one. */
  async empty(): Promise<void> {
    await execute(this.url, EMPTY);
  }

  /** Closes what `open` opened. */
  async close(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((database) => database.close()));
  }

  /** Closes what `open` opened and removes the database, with all connections to it. */
  async drop(): Promise<void> {
    await this.close();
    await administer(`DROP DATABASE "${this.name}" WITH (FORCE)`);
  }
}

/**
 * A fresh database: `beforeAll(async () => { database = await createTestDatabase(); })`, `afterAll(() => database.drop())`.
 * @param from `migrated` (default), or `empty` for a test of the migrations themselves
 */
export async function createTestDatabase(
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = from === 'migrated' ? TEMPLATE : 'template0';
  // Copying files costs a third of writing each page through the log.
  await administer(`CREATE DATABASE "${name}" TEMPLATE ${template} STRATEGY file_copy`);
  return new TestDatabase(name, urlOf(name));
}

const EMPTY = `DO $$ BEGIN
  EXECUTE (SELECT 'TRUNCATE ' || string_agg(format('%I.%I', schemaname, tablename), ', ')
           FROM pg_tables WHERE schemaname IN ('staking', 'partners'));
END $$`;

function administer(statement: string): Promise<void> {
  return execute(urlOf('postgres'), statement);
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const server = process.env['LOWMARK_TEST_POSTGRES'];
  if (server === undefined) throw new Error('Run the tests through Jest with its global setup');
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
