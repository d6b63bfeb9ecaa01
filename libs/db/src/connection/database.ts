import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource, type EntityManager, type Logger } from 'typeorm';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { inChildSpan, tracingIsOn } from '#libs/platform';
import { SnakeCaseColumns } from './columns.js';
import { connectionOptions, type DatabaseOptions } from './connection-options.js';
import { databaseError } from './database.error.js';
import { MIGRATION_SCHEMA, requireSchema } from './schema-check.js';
import { requireSessionDefaults, sessionSettings, statementTimeoutOf } from './session-settings.js';
import { SupervisedPool } from './supervised-pool.js';
import { spanOf, tracedClient } from './trace-statements.js';
import { entities } from '../entities.js';
import { migrations } from '../migrations/index.js';
import { poolInSchema } from '../stake-sets/pool-in-schema.js';
import { schemaOf } from '../stake-sets/stake-set.js';

/** One open database: TypeORM's DataSource, and its pool of connections for prepared statements and COPY. */
export class Database {
  constructor(
    readonly dataSource: DataSource,
    readonly pool: Pool,
    /** For how long an answer is waited for; absent: for ever. */
    private readonly answerMs?: number,
  ) {}

  /** @throws DatabaseUnavailableError, DatabaseRefusedError */
  async query<R extends QueryResultRow>(statement: Statement, values?: Values): Promise<R[]> {
    try {
      const { answerMs: query_timeout } = this;
      return await run<R>(this.pool, { ...statement, query_timeout }, values);
    } catch (error) {
      throw databaseError(error);
    }
  }

  /**
   * Hands each row out as it comes, while the server works on the next.
   * @throws DatabaseUnavailableError, DatabaseRefusedError; what `onRow` throws, when all rows have come
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the rows are
  async queryEach<R extends QueryResultRow>(
    statement: Statement,
    onRow: (row: R) => void,
  ): Promise<void> {
    const { answerMs: query_timeout } = this;
    const query = Object.assign(new pg.Query<R>(statement), { query_timeout });
    let failed: { readonly error: unknown } | undefined;
    query.on('row', (row) => {
      if (failed !== undefined) return;
      try {
        onRow(row);
      } catch (error) {
        // An event of the connection: thrown there it would end the process.
        failed = { error };
      }
    });
    try {
      // A pool answers such a statement by a promise, which its types do not say.
      await (this.pool.query(query) as unknown as Promise<unknown>);
    } catch (error) {
      throw databaseError(error);
    }
    if (failed !== undefined) throw failed.error;
  }

  /**
   * Entities on one connection, each statement by itself.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
   */
  entities<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.onConnection((client) => work(this.managerOn(this.observed(client), 0)));
  }

  /**
   * Runs the work in one transaction on one connection: statements by the client, entities by the manager.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws; nothing is written then, except that after a
   * DatabaseUnavailableError at the commit it may have been
   */
  transaction<T>(work: (client: PoolClient, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.onConnection(async (client) => {
      await client.query('BEGIN');
      const seen = this.observed(client);
      const result = await work(seen, this.managerOn(seen, 1));
      const commit: Statement = { text: 'COMMIT', query_timeout: this.answerMs };
      await client.query(commit);
      return result;
    });
  }

  /**
   * The same connections, on which all SQL means the tables of another stake set where it names those of the default one. Closing one
   * closes both.
   */
  inSet(set: string): Database {
    if (set === DEFAULT_STAKE_SET) return this;
    const pool = poolInSchema(this.pool, schemaOf(set));
    return new (this.constructor as typeof Database)(this.dataSource, pool, this.answerMs);
  }

  /** How the pool's connections are used now; see `measureConnections` of #libs/service. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }

  /** A connection as its statements are sent. */
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
    // Between two statements nothing else listens to the connection, and an unheard error would end the process.
    const lose = (): void => {
      broken = true;
    };
    client.on('error', lose);
    try {
      return await work(client);
    } catch (error) {
      // Where even this fails the connection is of no more use.
      await client.query('ROLLBACK').catch(lose);
      throw databaseError(error);
    } finally {
      client.off('error', lose);
      client.release(broken);
    }
  }

  /**
   * TypeORM takes connections from the pool itself and gives them back as good whatever happened to them. Here it is handed one, so that
   * `onConnection` decides that.
   */
  private managerOn(client: PoolClient, transactionDepth: 0 | 1): EntityManager {
    const runner = this.dataSource.createQueryRunner();
    const isTransactionActive = transactionDepth === 1;
    Object.assign(runner, { databaseConnection: client, isTransactionActive, transactionDepth });
    return runner.manager;
  }
}

/** With a span for each statement and each transaction that belongs to an open span. */
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

  override transaction<T>(
    work: (client: PoolClient, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    return inChildSpan(spanOf({ text: 'TRANSACTION' }), () => super.transaction(work));
  }

  protected override observed(client: PoolClient): PoolClient {
    return tracedClient(client);
  }
}

const DEFAULT_POOL_SIZE = 4;
/** The server's limit for a statement does not count what a commit waits for its standbys, nor what a pooler makes it wait. */
const UNANSWERED_MS = 5000;

/** TypeORM prints failed statements and migrations to the console even where logging is off; they are thrown as well, which is enough. */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

/**
 * Opens a pool of connections and proves that the first one works, and that its schema is as demanded.
 * @throws DatabaseUnavailableError, DatabaseRefusedError, SchemaNewerError, SchemaOlderError, SessionDefaultsError
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const dataSource = new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: SupervisedPool },
    extra: { ...connectionOptions(options), max: options.poolSize ?? DEFAULT_POOL_SIZE },
    entities,
    namingStrategy: new SnakeCaseColumns(),
    migrations,
    migrationsTableName: 'migration',
    schema: MIGRATION_SCHEMA,
    migrationsTransactionMode: 'all',
    installExtensions: false,
    logger: SILENT,
    poolErrorHandler: (error: unknown) => {
      // Without a listener the pool just replaces the connection at its next use.
      options.onError?.(error as Error);
    },
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    throw databaseError(error);
  }
  // TypeORM types the driver's pool as any.
  const { master } = dataSource.driver as unknown as { master: Pool };
  const limitMs = statementTimeoutOf(options);
  // Connections that only read have a shorter one.
  const isUnlimited = limitMs === 0 || options.readOnly === true;
  const answerMs = isUnlimited ? undefined : limitMs + UNANSWERED_MS;
  const database = new (tracingIsOn() ? TracedDatabase : Database)(dataSource, master, answerMs);
  try {
    if (options.directUrl !== undefined) {
      await requireSessionDefaults(database, sessionSettings(options));
    }
    await requireSchema(database, options.schema);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

export interface Statement {
  /** The server parses and plans a named statement once per connection; without a name, each time. */
  readonly name?: string;
  readonly text: string;
  /** What `named` has bound to it. */
  readonly values?: unknown[];
  /** Milliseconds. */
  readonly query_timeout?: number | undefined;
}

type Values = readonly unknown[];

/** The rows of a prepared statement, on a connection of a transaction or on whichever is free. @throws what pg throws */
export async function run<R extends object>(
  on: Pool | PoolClient,
  statement: Statement,
  values: Values = statement.values ?? [],
): Promise<R[]> {
  const { rows } = await on.query<R>({ ...statement, values: [...values] });
  return rows;
}
