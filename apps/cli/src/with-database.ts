import { createDatabase, type Database } from '#libs/db';

/** Opens the database for the length of one command. */
export async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await createDatabase({ url, applicationName: 'lowmark cli', poolSize: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
