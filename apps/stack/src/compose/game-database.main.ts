/** `./lowmark local up`: the reference partner's own database and its user, where they are missing. */
import { readSettings } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { prepareGame } from '../data/database-users.js';
import { GameDatabaseSettings } from './compose.settings.js';

try {
  const { databaseUrl, gameDatabaseUrl } = readSettings(GameDatabaseSettings);
  await prepareGame(databaseUrl, gameDatabaseUrl);
  console.log('The reference partner has a database of its own');
} catch (error) {
  console.error(error instanceof LowmarkError ? error.message : error);
  process.exitCode = 1;
}
