import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, type Database, type OpenOptions, type Program } from '#libs/db';

const TEMPLATE = 'lowmark_template';

/** A migrated database for one test file, on the PostgreSQL server of the test run. */
export class TestDatabase {
  private readonly opened: Database[] = [];
  private emptying: pg.Pool | undefined;

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
   * Empties the tables of the programs, also those whose rows are never removed. For a fresh state in each test this is
   * faster than a new database.
   */
  async empty(): Promise<void> {
    this.emptying ??= oneConnection(this.url);
    await this.emptying.query(EMPTY);
  }

  /** Closes the pools that `open` returned. */
  async close(): Promise<void> {
    await this.emptying?.end();
    this.emptying = undefined;
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

/**
 * Truncates the tables that something was ever written to, without their triggers, which would refuse it. The rows that
 * the migrations insert are there again afterwards.
 */
const EMPTY = `DO $$ DECLARE written text; BEGIN
  SET LOCAL session_replication_role = replica;
  SELECT string_agg(oid::regclass::text, ', ') INTO written FROM pg_class
    WHERE relkind = 'r' AND pg_relation_size(oid) > 0 AND oid <> 'redemption.task'::regclass AND relnamespace::regnamespace::text
      IN ('staking', 'partners', 'redemption', 'console', 'webhooks');
  EXECUTE 'TRUNCATE ' || written || ' CASCADE';
  INSERT INTO redemption.reserved VALUES ('payouts', 0);
  UPDATE redemption.task SET holder = NULL, held_until = NULL;
END $$`;

/** Of this process, for all its test files: a new connection would cost as much as a new database. */
let server: pg.Pool | undefined;

async function administer(statement: string): Promise<void> {
  server ??= oneConnection(urlOf('postgres'));
  await server.query(statement);
}

/** A connection that is kept, does not keep its process alive, and is opened again if it is lost. */
function oneConnection(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  return pool.on('error', () => undefined);
}

function urlOf(database: string): string {
  const server = process.env['LOWMARK_TEST_POSTGRES'];
  if (server === undefined) throw new Error('Run the tests through Jest with its global setup');
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
