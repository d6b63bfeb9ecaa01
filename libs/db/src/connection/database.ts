import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource, type EntityManager, type Logger } from 'typeorm';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { inChildSpan, tracingIsOn } from '#libs/platform';
import { SnakeCaseColumns } from './columns.js';
import { CheckedClient } from './checked-client.js';
import { answerTimeoutOf, connectionOptions, type DatabaseOptions } from './connection-options.js';
import { databaseError } from './database.error.js';
import { MIGRATION_SCHEMA, requireSchema } from './schema-check.js';
import { requireSessionDefaults, sessionSettings } from './session-settings.js';
import { spanOf, tracedClient } from './trace-statements.js';
import { entities } from '../entities.js';
import { migrations } from '../migrations/index.js';
import { poolInSchema } from '../stake-sets/pool-in-schema.js';
import { type IndexPart, schemaOf } from '../stake-sets/stake-set.js';

/** An open database: TypeORM's DataSource, and its pool of connections for prepared statements and COPY. */
export class Database {
  constructor(
    readonly dataSource: DataSource,
    readonly pool: Pool,
  ) {}

  /** @throws DatabaseUnavailableError, DatabaseRefusedError */
  async query<R extends QueryResultRow>(statement: Statement, values?: Values): Promise<R[]> {
    try {
      return await run<R>(this.pool, statement, values);
    } catch (error) {
      throw databaseError(error);
    }
  }

  /**
   * Passes each row to `onRow` when it arrives, while the server works on further rows.
   * @throws DatabaseUnavailableError, DatabaseRefusedError; the first error of `onRow`, after the last row
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the rows are
  async queryEach<R extends QueryResultRow>(
    statement: Statement,
    onRow: (row: R) => void,
  ): Promise<void> {
    const query = new pg.Query<R>(statement);
    let failed: { readonly error: unknown } | undefined;
    query.on('row', (row) => {
      if (failed !== undefined) return;
      try {
        onRow(row);
      } catch (error) {
        // `onRow` runs in an event listener of the connection, where an exception would end the process.
        failed = { error };
      }
    });
    try {
      // The pool returns a promise for such a query, which its types do not declare.
      await (this.pool.query(query) as unknown as Promise<unknown>);
    } catch (error) {
      throw databaseError(error);
    }
    if (failed !== undefined) throw failed.error;
  }

  /**
   * Runs the work with entities on one connection, without a transaction around its statements.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
   */
  entities<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.onConnection((client) => work(this.managerFor(this.observed(client), 0)));
  }

  /**
   * Runs the work in one transaction on one connection. The client runs statements, the manager entities.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws. The transaction is rolled back,
   * except that after a DatabaseUnavailableError at the commit it may have been committed.
   * @param statementTimeoutMs time limit of each statement. Default: that of the session
   */
  transaction<T>(work: TransactionWork<T>, statementTimeoutMs?: number): Promise<T> {
    return this.onConnection(async (client) => {
      await client.query('BEGIN');
      const seen = this.observed(client);
      const result = await withStatementTimeout(client, statementTimeoutMs, () =>
        work(seen, this.managerFor(seen, 1)),
      );
      await client.query('COMMIT');
      return result;
    });
  }

  /**
   * The same connections for another stake set: SQL that names tables of the default set uses the tables of `set`
   * instead. Closing one of the two databases closes both.
   */
  inSet(set: string, part: IndexPart = 'current'): Database {
    if (set === DEFAULT_STAKE_SET && part === 'current') return this;
    const pool = poolInSchema(this.pool, schemaOf(set, part));
    return new (this.constructor as typeof Database)(this.dataSource, pool);
  }

  /** Numbers of idle and busy connections and of waiting requests, for `measureConnections` of #libs/service. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }

  /** The connection as the work gets it. TracedDatabase adds spans. */
  protected observed(client: PoolClient): PoolClient {
    return client;
  }

  private async onConnection<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw databaseError(error);
    }
    let broken = false;
    // Between two statements nothing else listens to the connection, and an unhandled error event
    // would end the process.
    const lose = (): void => {
      broken = true;
    };
    client.on('error', lose);
    try {
      return await work(client);
    } catch (error) {
      // A connection on which ROLLBACK fails is unusable.
      await client.query('ROLLBACK').catch(lose);
      throw databaseError(error);
    } finally {
      client.off('error', lose);
      client.release(broken);
    }
  }

  /**
   * TypeORM would take its own connection from the pool and return it as healthy, whatever happened to it. With this
   * connection instead, `onConnection` decides whether the connection is still usable.
   */
  private managerFor(client: PoolClient, transactionDepth: 0 | 1): EntityManager {
    const runner = this.dataSource.createQueryRunner();
    const isTransactionActive = transactionDepth === 1;
    Object.assign(runner, { databaseConnection: client, isTransactionActive, transactionDepth });
    return runner.manager;
  }
}

/** A database with a span for each statement and each transaction that runs within an open span. */
class TracedDatabase extends Database {
  override query<R extends QueryResultRow>(statement: Statement, values?: Values): Promise<R[]> {
    return inChildSpan(spanOf(statement), () => super.query<R>(statement, values));
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the rows are
  override queryEach<R extends QueryResultRow>(
    statement: Statement,
    onRow: (row: R) => void,
  ): Promise<void> {
    return inChildSpan(spanOf(statement), () => super.queryEach<R>(statement, onRow));
  }

  override transaction<T>(work: TransactionWork<T>, statementTimeoutMs?: number): Promise<T> {
    const run = () => super.transaction(work, statementTimeoutMs);
    return inChildSpan(spanOf({ text: 'TRANSACTION' }), run);
  }

  protected override observed(client: PoolClient): PoolClient {
    return tracedClient(client);
  }
}

const DEFAULT_POOL_SIZE = 4;

/**
 * Logs nothing. TypeORM would print failed statements and migrations to the console even with logging off, and
 * throws these errors anyway.
 */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

/**
 * Opens a pool of connections, and checks the first connection and the schema.
 * @throws DatabaseUnavailableError, DatabaseRefusedError, SchemaUnsupportedError, SchemaNewerError,
 * SchemaOlderError, SessionDefaultsError
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const dataSource = new DataSource({
    type: 'postgres',
    driver: pg,
    extra: {
      ...connectionOptions(options),
      Client: CheckedClient,
      max: options.poolSize ?? DEFAULT_POOL_SIZE,
    },
    entities,
    namingStrategy: new SnakeCaseColumns(),
    migrations: [...(options.migrations ?? migrations)],
    migrationsTableName: 'migration',
    schema: MIGRATION_SCHEMA,
    migrationsTransactionMode: 'all',
    installExtensions: false,
    logger: SILENT,
    poolErrorHandler: (error: unknown) => {
      // With or without a listener, the pool replaces the connection at its next use.
      options.onError?.(error as Error);
    },
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    // Where its own first statements fail, `initialize` leaves the pool open. Where there is none, this rejects.
    await dataSource.driver.disconnect().catch(() => undefined);
    throw databaseError(error);
  }
  // TypeORM declares the driver's pool as any.
  const { master } = dataSource.driver as unknown as { master: Pool };
  const database = new (tracingIsOn() ? TracedDatabase : Database)(dataSource, master);
  try {
    if (options.isPooled === true) {
      await requireSessionDefaults(database, sessionSettings(options));
    }
    await requireSchema(database, options.schema, options.migrations);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

export interface Statement {
  /** The server parses and plans a named statement once per connection, an unnamed one at each execution. */
  readonly name?: string;
  readonly text: string;
  /** Parameter values that `named` has bound. */
  readonly values?: unknown[];
}

export type TransactionWork<T> = (client: PoolClient, manager: EntityManager) => Promise<T>;

type Values = readonly unknown[];

/** Runs the work of an open transaction with another time limit of its statements. */
async function withStatementTimeout<T>(
  client: PoolClient,
  statementTimeoutMs: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (statementTimeoutMs === undefined) return work();
  const checked = client as PoolClient & CheckedClient;
  await client.query(`SET LOCAL statement_timeout = ${statementTimeoutMs}`);
  checked.setAnswerTimeout(answerTimeoutOf(statementTimeoutMs));
  try {
    return await work();
  } finally {
    checked.setAnswerTimeout();
  }
}

/**
 * The rows of a prepared statement, run on the connection of a transaction or on a free one of the pool.
 * @throws pg's errors, not converted
 */
export async function run<R extends object>(
  on: Pool | PoolClient,
  statement: Statement,
  values: Values = statement.values ?? [],
): Promise<R[]> {
  const { rows } = await on.query<R>({ ...statement, values: [...values] });
  return rows;
}
