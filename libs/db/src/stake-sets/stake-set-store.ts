import { DEFAULT_STAKE_SET } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { type Statement } from '../connection/named.js';
import { type IndexPart, UnknownStakeSetError } from '../connection/stake-set.js';

const NAMES: Statement = {
  name: 'stake_sets',
  text: 'SELECT name FROM lowmark.stake_set ORDER BY name',
};

export class StakeSetStore {
  constructor(private readonly database: Database) {}

  /** The names of all stake sets, the default one first, the others in alphabetical order. */
  async names(): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(NAMES);
    return [DEFAULT_STAKE_SET, ...rows.map(({ name }) => name)];
  }

  /**
   * The database for work on one stake set.
   * @throws UnknownStakeSetError, DatabaseUnavailableError, DatabaseRefusedError
   */
  async open(set: string, part: IndexPart = 'current'): Promise<Database> {
    // The default set is not checked: on a database that was never migrated, the first statement reports
    // that the set is missing.
    if (set !== DEFAULT_STAKE_SET) {
      const names = await this.names();
      if (!names.includes(set)) throw new UnknownStakeSetError(set, names);
    }
    return this.database.inSet(set, part);
  }
}
