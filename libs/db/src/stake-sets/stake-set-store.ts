import { DEFAULT_STAKE_SET } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { UnknownStakeSetError } from './stake-set.js';

const NAMES: Statement = {
  name: 'stake_sets',
  text: 'SELECT name FROM lowmark.stake_set ORDER BY name',
};

export class StakeSetStore {
  constructor(private readonly database: Database) {}

  /** The default one first, the others by name. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async names(): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(NAMES);
    return [DEFAULT_STAKE_SET, ...rows.map(({ name }) => name)];
  }

  /**
   * The database for work on one set.
   * @throws UnknownStakeSetError, DatabaseUnavailableError, DatabaseRefusedError
   */
  async open(set: string): Promise<Database> {
    // Without a question: the default set of a database that was never migrated is said to be missing by its first statement.
    if (set === DEFAULT_STAKE_SET) return this.database;
    const names = await this.names();
    if (!names.includes(set)) throw new UnknownStakeSetError(set, names);
    return this.database.inSet(set);
  }
}
