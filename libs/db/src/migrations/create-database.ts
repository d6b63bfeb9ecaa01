import pg, { type Pool } from 'pg';
import { DataSource, type Logger } from 'typeorm';
import { CheckedClient } from '../connection/checked-client.js';
import { SnakeCaseColumns } from '../connection/columns.js';
import { connectionOptions, type DatabaseOptions } from '../connection/connection-options.js';
import { databaseError } from '../connection/database.error.js';
import { Database } from '../connection/database.js';
import { requireSessionDefaults, sessionSettings } from '../connection/session-settings.js';
import { StakeSetEntity } from '../connection/stake-set.js';
import { migrations } from './index.js';
import { MIGRATION_SCHEMA, requireSchema, type SchemaDemand } from './schema-check.js';
import { type MigrationClass } from './schema-migration.js';
import { CallbackEntity } from '../partners/callback.entity.js';
import { CredentialEntity } from '../partners/credential.entity.js';
import { PartnerEntity } from '../partners/partner.entity.js';

/**
 * Tables that are read and written as entities: what operators set for partners. SQL for all other tables is in the
 * file that uses it.
 */
export const entities = [CallbackEntity, CredentialEntity, PartnerEntity, StakeSetEntity];

export interface OpenOptions extends DatabaseOptions {
  /** Maximum number of open connections. Default 4. */
  readonly poolSize?: number;
  /** Default: `not-newer`. */
  readonly schema?: SchemaDemand;
  /** Default: those of this program. */
  readonly migrations?: readonly MigrationClass[];
  /** Called for errors of idle connections. These errors never end the process. */
  readonly onError?: (error: Error) => void;
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
export async function createDatabase(options: OpenOptions): Promise<Database> {
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
  const database = new Database(dataSource, master);
  try {
    await requireSessionDefaults(database, sessionSettings(options), options.isPooled);
    await requireSchema(database, options.schema, options.migrations);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
