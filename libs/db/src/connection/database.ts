import { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { migrations } from '../migrations/index.js';
import { connectionOptions, type DatabaseOptions } from './connection-options.js';
import { databaseError } from './database.error.js';
import { MIGRATION_SCHEMA, requireSchema } from './schema-check.js';
import { SILENT_LOGGER } from './silent-logger.js';
import { run, type Statement, type Values } from './statement.js';
import { traceStatements } from './trace-statements.js';

export { type Statement, type Values } from './statement.js';

/** One open database: TypeORM's DataSource, and its pool of connections for prepared statements and COPY. */
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
   * Runs the work in one transaction on one connection.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws; nothing is written then
   */
  async transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw databaseError(error);
    }
    let broken = false;
    // Between two statements nobody else listens to the connection, and an unheard error would end the process.
    const lose = (): void => {
      broken = true;
    };
    client.on('error', lose);
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
      throw databaseError(error);
    } finally {
      client.off('error', lose);
      client.release(broken);
    }
  }

  /** How the pool's connections are used now; see `measureConnections` of #libs/service. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }
}

/**
 * Opens a pool of connections and proves that the first one works, and that its schema is as demanded.
 * @throws DatabaseUnavailableError, DatabaseRefusedError, SchemaNewerError, SchemaOlderError
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const dataSource = new DataSource({
    type: 'postgres',
    extra: connectionOptions(options),
    entities: [],
    migrations,
    migrationsTableName: 'migration',
    schema: MIGRATION_SCHEMA,
    migrationsTransactionMode: 'all',
    installExtensions: false,
    logger: SILENT_LOGGER,
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
  const database = traceStatements(new Database(dataSource, master));
  try {
    await requireSchema(database, options.schema);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
