import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, type Database, type OpenOptions, type Program } from '#libs/db';

const TEMPLATE = 'lowmark_template';

/** A migrated database for one test file, on the PostgreSQL server of the test run. */
export class TestDatabase {
  private readonly opened: Database[] = [];

  constructor(
    readonly name: string,
    /** Connection string of a superuser. */
    readonly url: string,
  ) {}

  /** The connection string of a program, with the program's own database user. */
  urlAs(program: Program): string {
    const url = new URL(this.url);
    [url.username, url.password] = [`test_${program}`, `test_${program}`];
    return url.href;
  }

  /** Opens a connection pool. `drop` closes it. */
  async open(options: Partial<OpenOptions> = {}): Promise<Database> {
    const database = await createDatabase({
      url: this.url,
      applicationName: 'test',
      poolSize: 2,
      ...options,
    });
    this.opened.push(database);
    return database;
  }

  /**
   * Empties all tables of the schemas `staking` and `partners`. For a fresh state in each test this is faster than a
   * new database.
   */
  async empty(): Promise<void> {
    await execute(this.url, EMPTY);
  }

  /** Closes the pools that `open` returned. */
  async close(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((database) => database.close()));
  }

  /** Closes the pools that `open` returned, and drops the database together with all connections to it. */
  async drop(): Promise<void> {
    await this.close();
    await administer(`DROP DATABASE "${this.name}" WITH (FORCE)`);
  }
}

/**
 * Creates a database: `beforeAll(async () => { database = await createTestDatabase(); })`, `afterAll(() =>
 * database.drop())`.
 * @param from `migrated` (default), or `empty` for a test of the migrations themselves
 */
export async function createTestDatabase(
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = from === 'migrated' ? TEMPLATE : 'template0';
  // `file_copy` costs a third of the default strategy, which writes every page through the WAL.
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
