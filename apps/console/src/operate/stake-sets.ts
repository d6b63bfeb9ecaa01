import { Injectable } from '@nestjs/common';
import { Database, StakeSetStore, UnknownStakeSetError } from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { HttpProblem } from '#libs/service';

@Injectable()
export class StakeSets {
  private readonly store: StakeSetStore;

  constructor(private readonly database: Database) {
    this.store = new StakeSetStore(database);
  }

  /** @throws HttpProblem 404 */
  async open(name: string = DEFAULT_STAKE_SET): Promise<Database> {
    try {
      return await this.store.open(name);
    } catch (error) {
      if (!(error instanceof UnknownStakeSetError)) throw error;
      throw new HttpProblem(404, 'There is no such stake set.', { code: error.code });
    }
  }

  /** Reads from all stake sets in parallel. @returns a result for each set, that of the default set first */
  async forEach<T>(read: (database: Database, name: string) => Promise<T>): Promise<T[]> {
    const names = await this.store.names();
    return Promise.all(
      names.map((name) =>
        read(name === DEFAULT_STAKE_SET ? this.database : this.database.inSet(name), name),
      ),
    );
  }
}
