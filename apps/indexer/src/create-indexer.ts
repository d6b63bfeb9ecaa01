import { ANSWER_BYTES, type ChainReader, type LogSource, type RpcWaiting } from '#libs/chain';
import { IndexStore, type LeaderLock, type Database } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { type Registry } from '#libs/service';
import { IndexWriter } from './apply/index-writer.js';
import { RangeApplier } from './apply/range-applier.js';
import { BackfillProgress } from './backfill/backfill-progress.js';
import { RangeSizer } from '#libs/chain';
import { IndexLoop } from './follow/index-loop.js';
import { IndexStatus } from './follow/index-status.js';
import { IndexerMetrics } from './health/indexer.metrics.js';
import { measureSync } from './health/sync.metrics.js';
import { Supervisor, type SupervisorOptions } from './lead/supervisor.js';
import { indexSettingsOf, prepareIndex, type PrepareSettings } from './setup/prepare-index.js';
import { Doubts } from './verify/doubts.js';
import { RangeVerifier } from './verify/range-verifier.js';
import { WalletCheck } from './verify/wallet-check.js';

/**
 * Fetched ahead of the database, as it came; what is kept of it is a tenth as large. All that is there when the database is free
 * goes into one transaction, and large ones are cheaper; see docs/performance.md.
 */
const MAX_BUFFERED_BYTES = 40 * 1024 * 1024;
const INITIAL_BLOCKS = 100;

export interface IndexerOptions extends SupervisorOptions, PrepareSettings {
  readonly pollIntervalMs: number;
  /** STAKE_EVENTS as it was set: a preset, or the path of a file. */
  readonly stakeEvents: string;
}

export interface IndexerParts {
  readonly database: Database;
  readonly lock: LeaderLock;
  readonly reader: ChainReader;
  readonly source: LogSource;
  /** What the endpoints take at once. */
  readonly concurrency: () => number;
  /** Is told when a question has to wait because no endpoint answers. */
  readonly onWaiting: (listener: (event: RpcWaiting) => void) => void;
  /** Ends every question to an endpoint, under way or to come. */
  readonly stopAsking: () => void;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Indexer {
  readonly status: IndexStatus;
  readonly progress: BackfillProgress;
  /** Runs until aborted. @throws PermanentError where a setting is wrong; nothing is written under it */
  run(signal: AbortSignal): Promise<void>;
}

/** Puts the indexer together; nothing happens before `run`. */
export function createIndexer(parts: IndexerParts, options: IndexerOptions): Indexer {
  const { clock, logger, reader, source, registry } = parts;
  const { firstBlock } = options;
  const status = new IndexStatus(clock.nowMs());
  const metrics = new IndexerMetrics(registry, status, () => clock.nowMs());
  const progress = new BackfillProgress({ clock, logger, status, firstBlock });
  measureSync(registry, status, progress);
  const store = new IndexStore(parts.database);
  const writer = new IndexWriter(store, indexSettingsOf(options));
  const doubts = new Doubts();
  const verifier = new RangeVerifier({ reader, source, doubts, clock, logger });
  const onProgress = (): void => {
    status.progressAtMs = clock.nowMs();
  };
  const walletCheck = new WalletCheck({
    reader,
    source,
    verifier,
    store,
    doubts,
    clock,
    logger,
    firstBlock,
    onProgress,
  });
  const applier = new RangeApplier({
    reader,
    verifier,
    writer,
    doubts,
    status,
    progress,
    metrics,
    logger,
    firstBlock,
    stakeEvents: options.stakeEvents,
  });
  parts.onWaiting(({ message }) => {
    status.trouble = message;
    onProgress();
  });
  const loop = new IndexLoop({
    reader,
    source,
    verifier,
    writer,
    applier,
    walletCheck,
    doubts,
    sizer: new RangeSizer({
      targetBytes: ANSWER_BYTES,
      maxBlocks: options.maxRangeBlocks,
      initialBlocks: INITIAL_BLOCKS,
    }),
    status,
    metrics,
    clock,
    logger,
    concurrency: parts.concurrency,
    pollIntervalMs: options.pollIntervalMs,
    maxBufferedBytes: MAX_BUFFERED_BYTES,
  });
  const supervisor = new Supervisor(
    {
      lock: parts.lock,
      loop,
      writer,
      prepare: async () => {
        verifier.verification = await prepareIndex({ reader, store, logger, status }, options);
        walletCheck.mode = verifier.verification.mode;
      },
      status,
      metrics,
      clock,
      logger,
    },
    options,
  );
  const run = (signal: AbortSignal): Promise<void> => {
    signal.addEventListener('abort', parts.stopAsking, { once: true });
    return supervisor.run(signal);
  };
  return { status, progress, run };
}
