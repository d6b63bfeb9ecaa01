/** `./lowmark local up`: makes the reference partner's own database and its user, where they are missing. */
import { readSettings, sessionUrl } from '#libs/config';
import { prepareGame } from '../data/start-database.js';
import { endWithMessage, GameDatabaseSettings } from './compose.settings.js';

try {
  const settings = readSettings(GameDatabaseSettings);
  await prepareGame(sessionUrl(settings), settings.gameDatabaseUrl);
  console.log('The reference partner has a database of its own');
} catch (error) {
  endWithMessage(error);
}
