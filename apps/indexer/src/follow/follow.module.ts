import { Module } from '@nestjs/common';
import { ChainReader, LogSource, RpcPool } from '#libs/chain';
import { Database, IndexStore, LeaderLock } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { LOGGER, provide, Registry } from '#libs/service';
import { BalanceComparison } from '#libs/verification';
import { RangeApplier } from '../apply/range-applier.js';
import { IndexerMetrics } from '../health/indexer.metrics.js';
import { INDEX_OPTIONS } from '../index-options.js';
import { Supervisor } from '../lead/supervisor.js';
import { IndexPreparation } from '../setup/index-preparation.js';
import { RangeAgreement } from '../verify/range-agreement.js';
import { RangeMender } from '../verify/range-mender.js';
import { RangeSource, RangeVerifier } from '../verify/range-verifier.js';
import { SuspectRanges, VerificationPolicy } from '../verify/verification-policy.js';
import { TotalCheck } from '../verify/total-check.js';
import { WalletCheck } from '../verify/wallet-check.js';
import { BackfillProgress } from './backfill-progress.js';
import { HeadsReader } from './heads-reader.js';
import { IndexLoop } from './index-loop.js';
import { IndexStatus } from './index-status.js';
import { IndexerService } from './indexer.service.js';

const VERIFYING = [
  provide(SuspectRanges),
  provide(VerificationPolicy, IndexStatus, ChainReader, CLOCK),
  provide(RangeAgreement, ChainReader, LogSource, VerificationPolicy, CLOCK, LOGGER),
  provide(RangeVerifier, ChainReader, LogSource, VerificationPolicy, SuspectRanges, RangeAgreement),
  provide(RangeMender, ChainReader, LogSource, VerificationPolicy, RangeAgreement, LOGGER),
  provide(
    TotalCheck,
    ChainReader,
    VerificationPolicy,
    RangeMender,
    SuspectRanges,
    LOGGER,
    INDEX_OPTIONS,
  ),
  provide(BalanceComparison, ChainReader, IndexStore, LOGGER),
  provide(
    WalletCheck,
    ChainReader,
    LogSource,
    IndexStore,
    VerificationPolicy,
    BalanceComparison,
    SuspectRanges,
    IndexStatus,
    CLOCK,
    LOGGER,
    INDEX_OPTIONS,
  ),
];

const WRITING = [
  provide(IndexStore, Database),
  provide(BackfillProgress, CLOCK, LOGGER, IndexStatus, INDEX_OPTIONS),
  provide(IndexerMetrics, Registry, IndexStatus, BackfillProgress, CLOCK),
  provide(
    RangeApplier,
    TotalCheck,
    VerificationPolicy,
    SuspectRanges,
    BackfillProgress,
    IndexStatus,
    IndexerMetrics,
    LOGGER,
    INDEX_OPTIONS,
  ),
];

/** Keeps the index level with the chain. Needs the application's connections, metrics and health modules. */
@Module({
  providers: [
    ...VERIFYING,
    ...WRITING,
    provide(HeadsReader, ChainReader, LogSource, VerificationPolicy, SuspectRanges, CLOCK),
    provide(RangeSource, RpcPool, RangeVerifier, SuspectRanges, INDEX_OPTIONS),
    provide(
      IndexLoop,
      HeadsReader,
      RangeSource,
      RangeApplier,
      WalletCheck,
      VerificationPolicy,
      ChainReader,
      IndexStatus,
      CLOCK,
      LOGGER,
      INDEX_OPTIONS,
    ),
    provide(IndexPreparation, ChainReader, IndexStore, IndexStatus, CLOCK, LOGGER, INDEX_OPTIONS),
    provide(
      Supervisor,
      IndexPreparation,
      LeaderLock,
      IndexLoop,
      IndexStore,
      IndexStatus,
      CLOCK,
      LOGGER,
      INDEX_OPTIONS,
    ),
    IndexerService,
  ],
})
export class FollowModule {}
