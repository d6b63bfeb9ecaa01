import { Inject, Injectable } from '@nestjs/common';
import { type AskedWallet, type SnapshotRead, type SnapshotState, SnapshotStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { ApiSettings } from '../api.env.js';
import { NewestState } from './newest-state.js';
import { type Standby } from './standby.js';
import { Standbys } from './standbys.js';

/** Why a read was made again elsewhere. */
export const FALLBACKS = ['failed', 'older', 'without-primary'] as const;
type Fallback = (typeof FALLBACKS)[number];

export interface StandbyCounts {
  /** Reads that gave what was asked. */
  reads: number;
  readonly fallbacks: Record<Fallback, number>;
}

/**
 * Reads of snapshots, on a standby where one may be used, else on the primary. Wallets and state come from one statement on one server;
 * no state is older than one that an earlier answer of this process had.
 */
@Injectable()
export class StandbyReads {
  readonly counts = { primary: 0, standbys: new Map<Standby, StandbyCounts>() };
  private readonly newest = new NewestState();

  constructor(
    private readonly primary: SnapshotStore,
    private readonly standbys: Standbys,
    private readonly settings: ApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    for (const standby of standbys.all) {
      const fallbacks = { failed: 0, older: 0, 'without-primary': 0 };
      this.counts.standbys.set(standby, { reads: 0, fallbacks });
    }
  }

  /** The newest state that was read; whether it is still so only a read can tell. */
  get seen(): SnapshotState | undefined {
    return this.newest.state;
  }

  /**
   * Undefined where there is no index yet.
   * @throws DatabaseUnavailableError, DatabaseRefusedError of the primary
   */
  async read(asked: readonly AskedWallet[] = []): Promise<SnapshotRead | undefined> {
    for (const standby of this.standbys.choose()) {
      const read = await this.readOn(standby, asked);
      const counts = this.counts.standbys.get(standby);
      if (typeof read !== 'string') {
        if (counts) counts.reads += 1;
        return read;
      }
      if (counts) counts.fallbacks[read] += 1;
    }
    const begun = this.newest.begin();
    const read = await this.primary.read(asked);
    this.counts.primary += 1;
    return read && { ...read, state: this.newest.take(read, this.primary, begun) };
  }

  private async readOn(
    standby: Standby,
    asked: readonly AskedWallet[],
  ): Promise<SnapshotRead | Fallback> {
    const { session } = standby;
    const begun = this.newest.begin();
    const read = await standby.read(asked);
    if (read === undefined) return 'failed';
    if (!this.standbys.primaryIsHeard && !this.isFresh(read.state)) return 'without-primary';
    const state = this.newest.admit(read, session, begun);
    return state === undefined ? 'older' : { ...read, state };
  }

  /** Whether the index itself shows that the standby is not far behind. */
  private isFresh({ head }: SnapshotState): boolean {
    const ageMs = this.clock.nowMs() - head.timestampSeconds * 1000;
    return ageMs <= this.settings.indexMaxLagSeconds * 1000;
  }
}
