import { type Database, DayEvents, hasFindings, StakeSetStore, TierEvents } from '#libs/db';

/** Pages of wallets per turn of one subscription. */
const TURN = 20;

/**
 * Writes the events of sealed days and of tiers, for every stake set. Any number of processes may run one; locks make
 * them take turns.
 */
export class WebhookEvaluator {
  constructor(
    private readonly database: Database,
    private readonly turn = TURN,
  ) {}

  /**
   * Runs until nothing more is final, or until the signal aborts.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async run(signal: AbortSignal): Promise<void> {
    const sets = new StakeSetStore(this.database);
    for (const set of await sets.names()) {
      const database = await sets.open(set);
      // What is known to be wrong is not told. The events follow after the repair.
      if (await hasFindings(database)) continue;
      await new DayEvents(database, set).tell();
      const tiers = new TierEvents(database, set);
      let open = await tiers.followed();
      while (open.length > 0) {
        const more: string[] = [];
        for (const id of open) {
          if (signal.aborted) return;
          if (await this.takeTurn(tiers, id, signal)) more.push(id);
        }
        open = more;
      }
    }
  }

  private async takeTurn(tiers: TierEvents, id: string, signal: AbortSignal): Promise<boolean> {
    for (let page = 0; page < this.turn && !signal.aborted; page += 1) {
      const { goesOn } = await tiers.step(id);
      if (!goesOn) return false;
    }
    return true;
  }
}
