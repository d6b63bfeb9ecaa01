import { type Logger } from 'typeorm';

/** TypeORM prints failed migrations to the console even where logging is off; they are thrown as well, which is enough. */
export const SILENT_LOGGER: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};
