import { type Logger } from '#libs/platform';
import { type DatabaseOptions } from '../connection/connection-options.js';
import { createDatabase, type Database } from '../connection/database.js';
import { requireOwnRights } from './held-rights.js';
import { type Program } from './rights.js';

/** Who opens a database, and where. */
export interface Opening {
  readonly program: Program;
  /** In production a user who may do more than the program needs is refused; elsewhere it is only said. */
  readonly nodeEnv: string | undefined;
  readonly logger: Logger;
}

/**
 * The database of a program, in this version's schema and as a user who may do no more than the program needs.
 * @throws what `createDatabase` throws; ExcessRightsError
 */
export async function openOwnDatabase(
  { program, nodeEnv, logger }: Opening,
  options: DatabaseOptions,
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

/** `onError` of a database. */
export function logLostConnections(logger: Logger): (error: Error) => void {
  return (error) => {
    // The driver's error drags its whole connection along.
    logger.warn({ reason: error.message }, 'A database connection was lost');
  };
}
