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
import { BalanceComparison } from '#libs/verification';
import { RangeApplier } from '../../../apps/indexer/src/apply/range-applier.js';
import { BackfillProgress } from '../../../apps/indexer/src/follow/backfill-progress.js';
import { HeadsReader } from '../../../apps/indexer/src/follow/heads-reader.js';
import { IndexLoop } from '../../../apps/indexer/src/follow/index-loop.js';
import { IndexStatus } from '../../../apps/indexer/src/follow/index-status.js';
import { IndexerMetrics } from '../../../apps/indexer/src/health/indexer.metrics.js';
import { type IndexOptions } from '../../../apps/indexer/src/index-options.js';
import { Supervisor } from '../../../apps/indexer/src/lead/supervisor.js';
import { IndexPreparation } from '../../../apps/indexer/src/setup/index-preparation.js';
import { RangeAgreement } from '../../../apps/indexer/src/verify/range-agreement.js';
import { RangeMender } from '../../../apps/indexer/src/verify/range-mender.js';
import { RangeSource, RangeVerifier } from '../../../apps/indexer/src/verify/range-verifier.js';
import { TotalCheck } from '../../../apps/indexer/src/verify/total-check.js';
import {
  SuspectRanges,
  VerificationPolicy,
} from '../../../apps/indexer/src/verify/verification-policy.js';
import { WalletCheck } from '../../../apps/indexer/src/verify/wallet-check.js';
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
  const policy = new VerificationPolicy(status, reader, clock);
  const suspects = new SuspectRanges();
  const agreement = new RangeAgreement(reader, source, policy, clock, logger);
  const verifier = new RangeVerifier(reader, source, policy, suspects, agreement);
  const mender = new RangeMender(reader, source, policy, agreement, logger);
  const totals = new TotalCheck(reader, policy, mender, suspects, logger, options);
  const balances = new BalanceComparison(reader, store, logger);
  const walletCheck = new WalletCheck(
    reader,
    source,
    store,
    policy,
    balances,
    suspects,
    status,
    clock,
    logger,
    options,
  );
  const progress = new BackfillProgress(clock, logger, status, options);
  const metrics = new IndexerMetrics(new Registry(), status, progress, clock);
  const applier = new RangeApplier(
    totals,
    policy,
    suspects,
    progress,
    status,
    metrics,
    logger,
    options,
  );
  const heads = new HeadsReader(reader, source, policy, suspects, clock);
  const ranges = new RangeSource(pool, verifier, suspects, options);
  const loop = new IndexLoop(
    heads,
    ranges,
    applier,
    walletCheck,
    policy,
    reader,
    status,
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
