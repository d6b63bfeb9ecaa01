/** One indexer process: the parts of FollowModule over the seams. */
import {
  ChainReader,
  LogSource,
  parseStakeEvents,
  type PostBody,
  RpcPool,
  type StakeView,
  type VerificationSetting,
} from '#libs/chain';
import { type IndexStore, type LeaderLock } from '#libs/db';
import { type Logger, systemClock } from '#libs/platform';
import { Registry } from '#libs/service';
import { BalanceAudit } from '#libs/verification';
import { BackfillProgress } from '../../../apps/indexer/src/health/backfill-progress.js';
import { HeadsReader } from '../../../apps/indexer/src/vouch/heads-reader.js';
import { IndexLoop } from '../../../apps/indexer/src/follow/index-loop.js';
import { IndexStatus } from '../../../apps/indexer/src/health/index-status.js';
import { IndexerMetrics } from '../../../apps/indexer/src/health/indexer.metrics.js';
import { type IndexOptions } from '../../../apps/indexer/src/settings/index-options.js';
import { Supervisor } from '../../../apps/indexer/src/follow/supervisor.js';
import { IndexPreparation } from '../../../apps/indexer/src/setup/index-preparation.js';
import { ContractTotal } from '../../../apps/indexer/src/vouch/contract-total.js';
import { RangeRepair } from '../../../apps/indexer/src/vouch/range-repair.js';
import { SecondRead } from '../../../apps/indexer/src/vouch/second-read.js';
import { SuspectRanges } from '../../../apps/indexer/src/vouch/suspect-ranges.js';
import { Vouching } from '../../../apps/indexer/src/vouch/vouch.js';
import { WalletBalances } from '../../../apps/indexer/src/vouch/wallet-balances.js';
import { Witnesses } from '../../../apps/indexer/src/vouch/witnesses.js';
import { CHAIN_ID, STAKING, TOKEN } from '../../../libs/testing/src/fake-node/honest-node.js';

export interface IndexerSetting {
  readonly urls: readonly string[];
  readonly post: PostBody;
  readonly finality: string;
  readonly verification: VerificationSetting;
  /** Absent: the usual view. Empty: the contract tells no total. */
  readonly totalView?: readonly StakeView[];
}

export interface Indexer {
  readonly status: IndexStatus;
  readonly options: IndexOptions;
  readonly reader: ChainReader;
  /** For the sealing of days and the audit. */
  readonly backgroundReader: ChainReader;
  /** Runs until the signal aborts. @throws PermanentError where the index cannot be taken over */
  run(signal: AbortSignal): Promise<void>;
}

const EVENTS = parseStakeEvents('staked-withdrawn');

export function createIndexer(
  setting: IndexerSetting,
  { store, lock, logger }: { store: IndexStore; lock: LeaderLock; logger: Logger },
): Indexer {
  const clock = systemClock;
  const contracts = [STAKING] as const;
  const options: IndexOptions = {
    chainId: CHAIN_ID,
    contracts,
    tokenContract: TOKEN,
    firstBlock: 1n,
    events: EVENTS,
    stakeEvents: 'staked-withdrawn',
    verification: setting.verification,
    maxRangeBlocks: 2,
    cachedWallets: 3,
    pollIntervalMs: 10_000,
    stallAfterMs: 180_000,
    standbyIntervalMs: 5000,
    maxBackoffMs: 30_000,
    haltedRetryMs: 600_000,
  };
  const status = new IndexStatus();
  const observer = { request: () => undefined, warning: () => undefined };
  const { urls, post, finality, totalView } = setting;
  const pool = new RpcPool({ urls, post, clock, observer: status.observedBy(observer, clock) });
  const reading = { finality, contracts, ...(totalView && { totalView }) };
  const reader = new ChainReader(pool, reading);
  const source = new LogSource(pool, { contracts, events: EVENTS, keptHeaders: 3 });
  const witnesses = new Witnesses(status, reader, clock);
  const suspects = new SuspectRanges();
  const secondRead = new SecondRead(reader, source, witnesses, clock, logger);
  const repair = new RangeRepair(reader, source, witnesses, secondRead, logger);
  const total = new ContractTotal(reader, witnesses, repair, suspects, logger, options);
  const balances = new WalletBalances(
    reader,
    source,
    store,
    witnesses,
    new BalanceAudit(reader, logger),
    suspects,
    status,
    clock,
    logger,
    options,
  );
  const vouching = new Vouching(
    pool,
    reader,
    source,
    witnesses,
    suspects,
    secondRead,
    total,
    balances,
    logger,
    options,
  );
  const progress = new BackfillProgress(clock, logger, status, options);
  const metrics = new IndexerMetrics(new Registry(), status, progress, clock);
  const heads = new HeadsReader(reader, source, witnesses, suspects, clock);
  const loop = new IndexLoop(
    heads,
    vouching,
    reader,
    progress,
    status,
    metrics,
    clock,
    logger,
    options,
  );
  const preparation = new IndexPreparation(reader, store, status, clock, logger, options);
  const supervisor = new Supervisor(preparation, lock, loop, store, status, clock, logger, options);
  const background = new RpcPool({ urls, post, clock, observer });
  const backgroundReader = new ChainReader(background, reading);
  return {
    status,
    options,
    reader,
    backgroundReader,
    run: (signal) => supervisor.keepIndex(signal),
  };
}
