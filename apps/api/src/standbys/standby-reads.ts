import {
  type AskedDays,
  type AskedHistory,
  type AskedWallet,
  type Database,
  type HistoryRead,
  type IndexRead,
  type SnapshotRead,
  type SnapshotState,
  SnapshotStore,
  type WindowRead,
  type WindowSink,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type ApiSettings } from '../api.env.js';
import { NewestState } from './newest-state.js';
import { type AskStore, type Fallback, type Standby } from './standby.js';
import { type Standbys } from './standbys.js';

/**
 * Reads one stake set as `SnapshotStore` does, from a standby if one is usable, else from the primary. State and
 * wallets come from one statement on one server. No state is older than that of an earlier answer of this process.
 */
export class StandbyReads {
  private readonly primary: SnapshotStore;
  private readonly newest = new NewestState();

  constructor(
    database: Database,
    private readonly standbys: Standbys,
    private readonly settings: ApiSettings,
    private readonly clock: Clock,
    private readonly set: string,
  ) {
    this.primary = new SnapshotStore(database.inSet(set));
  }

  /** The newest state that was read. Only another read can tell whether it is still current. */
  get seen(): SnapshotState | undefined {
    return this.newest.state;
  }

  /**
   * @returns undefined where there is no index yet
   * @throws DatabaseUnavailableError, DatabaseRefusedError of the primary
   */
  read(asked: readonly AskedWallet[] = []): Promise<SnapshotRead | undefined> {
    return this.readBy((store) => store.read(asked));
  }

  /**
   * Reads one window of many wallets. `begin` is called anew for each server that is asked. Result and errors are those
   * of `read`.
   */
  readWindow<S extends WindowSink>(
    wallets: readonly Address[],
    days: AskedDays,
    begin: (state: SnapshotState) => S,
  ): Promise<WindowRead<S> | undefined> {
    return this.readBy((store) => store.readWindow(wallets, days, begin));
  }

  /** Reads a page of a wallet's history. Result and errors are those of `read`. */
  readHistory(asked: AskedHistory): Promise<HistoryRead | undefined> {
    return this.readBy((store) => store.readHistory(asked));
  }

  private async readBy<R extends IndexRead>(ask: AskStore<R>): Promise<R | undefined> {
    for (const standby of this.standbys.choose()) {
      const read = await this.readOn(standby, ask);
      if (typeof read !== 'string') {
        standby.counts.reads += 1;
        return read;
      }
      standby.counts.fallbacks[read] += 1;
    }
    const begun = this.newest.begin();
    const read = await ask(this.primary);
    this.standbys.primaryReads += 1;
    return read && { ...read, state: this.newest.take(read, this.primary, begun) };
  }

  private async readOn<R extends IndexRead>(
    standby: Standby,
    ask: AskStore<R>,
  ): Promise<R | Fallback> {
    const { session } = standby;
    const begun = this.newest.begin();
    const read = await standby.read(ask, this.set);
    if (read === undefined) return 'failed';
    if (!this.standbys.isPrimaryAnswering && !this.isFresh(read.state)) return 'without-primary';
    const state = this.newest.admit(read, session, begun);
    return state === undefined ? 'older' : { ...read, state };
  }

  /** Whether the newest indexed block shows that the standby is not far behind. */
  private isFresh({ head }: SnapshotState): boolean {
    const ageMs = this.clock.nowMs() - head.timestampSeconds * 1000;
    return ageMs <= this.settings.indexMaxLagSeconds * 1000;
  }
}
