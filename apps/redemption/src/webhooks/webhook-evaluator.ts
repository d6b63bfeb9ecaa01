import { type Database, DayEvents, hasFindings, StakeSetStore } from '#libs/db';

/** Writes the events of sealed days, for every stake set. Any number of processes may run one; locks make them take turns. */
export class WebhookEvaluator {
  constructor(private readonly database: Database) {}

  /**
   * Runs until all sealed days have their events, or until the signal aborts.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async run(signal: AbortSignal): Promise<void> {
    const sets = new StakeSetStore(this.database);
    for (const set of await sets.names()) {
      if (signal.aborted) return;
      const database = await sets.open(set);
      // What is known to be wrong is not told. The events follow after the repair.
      if (await hasFindings(database)) continue;
      await new DayEvents(database, set).tell();
    }
  }
}
