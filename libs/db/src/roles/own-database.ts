import { type Logger } from '#libs/platform';
import { type Database } from '../connection/database.js';
import { createDatabase, type OpenOptions } from '../migrations/create-database.js';
import { requireOwnRights } from './held-rights.js';
import { type Program } from './rights.js';

/** The program that opens its database, with its environment. */
export interface Opening {
  readonly program: Program;
  /** In `production` a user with more rights than the program needs is refused; elsewhere a warning is logged. */
  readonly nodeEnv: string | undefined;
  readonly logger: Logger;
}

/**
 * Opens the database of a program. Requires the schema of this version and, in production, a user
 * without excess rights.
 * @throws what `createDatabase` throws; ExcessRightsError
 */
export async function openOwnDatabase(
  { program, nodeEnv, logger }: Opening,
  options: OpenOptions,
): Promise<Database> {
  const onError = logLostConnections(logger);
  const database = await createDatabase({ schema: 'current', onError, ...options });
  try {
    await requireOwnRights(database, program, {
      isProduction: nodeEnv === 'production',
      onExcess: (message) => {
        logger.warn({ code: 'DATABASE_RIGHTS_EXCESSIVE' }, message);
      },
    });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** An `onError` for OpenOptions that logs lost connections. */
export function logLostConnections(logger: Logger): (error: Error) => void {
  return (error) => {
    // Only the message, because the driver's error contains the whole connection.
    logger.warn({ reason: error.message }, 'A database connection was lost');
  };
}
