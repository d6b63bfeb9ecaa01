/**
 * Makes a new index beside the one in use, compares the two and exchanges them. Each step can be repeated: a command that
 * ended at any moment goes on when it is run again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainReader } from '#libs/chain';
import { type SettingsSource } from '#libs/config';
import {
  createDatabase,
  type Database,
  ExchangeBusyError,
  fingerprintOf,
  IndexMissingError,
  type IndexSettings,
  type IndexState,
  IndexStore,
  LeaderLock,
  leaderLockOf,
  Reindexing,
  reindexingLockOf,
  type SettingPair,
  settingPairs,
  StakeSetStore,
} from '#libs/db';
import { PermanentError } from '#libs/domain';
import { compareIndexes, duration, type IndexComparison } from '#libs/operations';
import { type Clock } from '#libs/platform';
import { NewIndexer } from './new-indexer.js';

const APPLICATION = 'lowmark index again';
const POLL_MS = 500;

export interface AgainContext {
  /** The URL of the owner, for sessions. */
  readonly ownerUrl: string;
  /** The URL of the indexer's user, for sessions. */
  readonly indexerUrl: string;
  readonly stakeSet: string;
  readonly wanted: IndexSettings;
  readonly reader: ChainReader;
  readonly source: SettingsSource;
  readonly clock: Clock;
  readonly onProgress: (said: string) => void;
}

export interface AgainPlan {
  readonly state: IndexState;
  readonly settings: readonly SettingPair[];
  /** Blocks of the new index that are still to be read. */
  readonly blocks: bigint;
  /** The newest block of the new index, where it was begun. */
  readonly begunAt: bigint | undefined;
  /** Size of the index in use; the new one takes about as much. */
  readonly bytes: number;
}

export class IndexAgain {
  readonly reindexing: Reindexing;

  constructor(private readonly context: AgainContext) {
    this.reindexing = new Reindexing(context.ownerUrl, context.stakeSet);
  }

  /** @throws IndexMissingError */
  plan(): Promise<AgainPlan> {
    return this.withDatabase(async (database) => {
      const { stakeSet, wanted, reader } = this.context;
      const { next } = await this.reindexing.standing();
      const state = await new IndexStore(database.inSet(stakeSet)).state();
      if (state === undefined) throw new IndexMissingError();
      const begun = next && (await new IndexStore(database.inSet(stakeSet, 'next')).state());
      const { latest } = await reader.heads();
      const done = begun?.head.number ?? BigInt(wanted.startBlock) - 1n;
      return {
        state,
        settings: settingPairs(state, wanted),
        blocks: latest.number > done ? latest.number - done : 0n,
        begunAt: begun?.head.number,
        bytes: await this.reindexing.bytes(),
      };
    });
  }

  /**
   * Makes the new index, compares it with the one in use, and exchanges them.
   * @param exchanges false: ends after the comparison
   * @param onCompared called once, before the exchange
   */
  async run(
    exchanges: boolean,
    onCompared: (comparison: IndexComparison | undefined) => void,
  ): Promise<void> {
    await this.alone(async (database) => {
      await this.begin(database);
      let isCompared = false;
      for (;;) {
        await this.sync(database, async (databases) => {
          if (isCompared) return;
          onCompared(await compareIndexes(databases, this.context.onProgress));
          isCompared = true;
        });
        if (!exchanges) return;
        this.context.onProgress('Exchanging the indexes');
        try {
          await this.reindexing.exchange();
          break;
        } catch (error) {
          if (!(error instanceof ExchangeBusyError)) throw error;
          // The new index reads on before the next attempt, so that it does not fall behind.
          this.context.onProgress('A transaction reads the index for long: waiting for its end');
        }
      }
      await this.restartIndexer();
    });
  }

  /** Goes back to the index before. @throws what `Reindexing.undo` throws */
  undo(): Promise<'went back' | 'removed'> {
    return this.alone(async () => {
      const outcome = await this.reindexing.undo();
      if (outcome === 'went back') await this.restartIndexer();
      return outcome;
    });
  }

  /** Removes the index before. @throws what `Reindexing.remove` throws */
  dropOld(): Promise<void> {
    return this.alone(() => this.reindexing.remove('before'));
  }

  private async begin(database: Database): Promise<void> {
    const { stakeSet, wanted } = this.context;
    await this.reindexing.make();
    const begun = await new IndexStore(database.inSet(stakeSet, 'next')).state();
    if (begun === undefined || begun.fingerprint === fingerprintOf(wanted)) return;
    throw new PermanentError(
      'NEW_INDEX_DIFFERS',
      'A new index was begun with other settings than these. To begin another one, remove it first: index again --undo.',
    );
  }

  /** Runs an indexer until the new index has caught up with the chain, does the work, and stops the indexer. */
  private async sync(
    database: Database,
    work: (databases: { current: Database; next: Database }) => Promise<void>,
  ): Promise<void> {
    const { stakeSet, source, indexerUrl } = this.context;
    const databases = { current: database.inSet(stakeSet), next: database.inSet(stakeSet, 'next') };
    const store = new IndexStore(databases.next);
    // A halt of an earlier run is tried again.
    const haltedAt = (await store.state())?.halted?.at;
    const indexer = NewIndexer.start(source, indexerUrl);
    try {
      await this.untilLevel(indexer, store, haltedAt);
      await work(databases);
      await this.untilLevel(indexer, store, haltedAt);
    } finally {
      await indexer.stop();
    }
  }

  /** Waits until the index has a block that was the chain's newest one at the beginning, or a newer one. */
  private async untilLevel(
    indexer: NewIndexer,
    store: IndexStore,
    haltedAt: Date | undefined,
  ): Promise<void> {
    const { reader, clock, onProgress } = this.context;
    const beganMs = clock.nowMs();
    let { latest } = await reader.heads();
    let first: bigint | undefined;
    for (;;) {
      indexer.requireRunning();
      const state = await store.state();
      if (state?.halted && state.halted.at.getTime() !== haltedAt?.getTime()) {
        throw new PermanentError(
          'NEW_INDEX_HALTED',
          `The new index has halted, and the one in use stays in use: ${state.halted.reason}`,
        );
      }
      const isLevel = state?.syncedAt !== undefined && state.halted === undefined;
      if (isLevel && state.head.number >= latest.number) return;
      const head = state?.head.number;
      first ??= head;
      // A first sync takes longer than the chain takes for a block.
      if (state?.syncedAt === undefined) ({ latest } = await reader.heads());
      const passedMs = clock.nowMs() - beganMs;
      onProgress(progressText({ head, first, latest: latest.number, passedMs }, this.firstBlock));
      await sleep(POLL_MS);
    }
  }

  private get firstBlock(): bigint {
    return BigInt(this.context.wanted.startBlock);
  }

  /** Has the running indexer begin again with the index that is now in use, even where it has halted. */
  private async restartIndexer(): Promise<void> {
    const { indexerUrl: url, stakeSet } = this.context;
    const lead = new LeaderLock({ url, applicationName: APPLICATION }, leaderLockOf(stakeSet));
    await lead.seize();
    await lead.release();
  }

  /** Runs the work while no other command indexes this set again. @throws PermanentError REINDEXING_ALREADY */
  private async alone<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { ownerUrl: url, stakeSet } = this.context;
    const lock = new LeaderLock({ url, applicationName: APPLICATION }, reindexingLockOf(stakeSet));
    return this.withDatabase(async (database) => {
      if (!(await lock.tryAcquire())) {
        throw new PermanentError('REINDEXING_ALREADY', 'Another `index again` is running.');
      }
      try {
        return await work(database);
      } finally {
        await lock.release();
      }
    });
  }

  private async withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { ownerUrl: url, stakeSet } = this.context;
    const database = await createDatabase({ url, applicationName: APPLICATION, poolSize: 2 });
    try {
      // Refuses an unknown set.
      await new StakeSetStore(database).open(stakeSet);
      return await work(database);
    } finally {
      await database.close();
    }
  }
}

interface Progress {
  readonly head: bigint | undefined;
  /** The newest block when the command began. */
  readonly first: bigint | undefined;
  readonly latest: bigint;
  readonly passedMs: number;
}

function progressText({ head, first, latest, passedMs }: Progress, firstBlock: bigint): string {
  if (head === undefined || first === undefined) return 'The new index begins';
  const all = Number(latest - firstBlock + 1n);
  const percent = all <= 0 ? 100 : (Number(head - firstBlock + 1n) / all) * 100;
  const perMs = Number(head - first) / passedMs;
  const left = perMs > 0 ? `, ${duration(Number(latest - head) / perMs)} left` : '';
  return `Block ${head} of ${latest}, ${Math.min(100, percent).toFixed(1)} %${left}`;
}
