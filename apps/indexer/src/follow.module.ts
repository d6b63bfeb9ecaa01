import { Module } from '@nestjs/common';
import { ChainReader, LogSource, RpcPool } from '#libs/chain';
import { Database, IndexStore, LeaderLock } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { LOGGER, provide, Registry } from '#libs/service';
import { BalanceAudit } from '#libs/verification';
import { IndexerMetrics } from './health/indexer.metrics.js';
import { INDEX_OPTIONS } from './settings/index-options.js';
import { Supervisor } from './follow/supervisor.js';
import { IndexPreparation } from './setup/index-preparation.js';
import { ContractTotal } from './vouch/contract-total.js';
import { RangeRepair } from './vouch/range-repair.js';
import { SecondRead } from './vouch/second-read.js';
import { SuspectRanges } from './vouch/suspect-ranges.js';
import { Vouching } from './vouch/vouch.js';
import { WalletBalances } from './vouch/wallet-balances.js';
import { Witnesses } from './vouch/witnesses.js';
import { BackfillProgress } from './health/backfill-progress.js';
import { HeadsReader } from './vouch/heads-reader.js';
import { IndexLoop } from './follow/index-loop.js';
import { IndexStatus } from './health/index-status.js';
import { IndexerService } from './follow/indexer.service.js';

const VOUCHING = [
  provide(SuspectRanges),
  provide(Witnesses, IndexStatus, ChainReader, CLOCK),
  provide(SecondRead, ChainReader, LogSource, Witnesses, CLOCK, LOGGER),
  provide(RangeRepair, ChainReader, LogSource, Witnesses, SecondRead, LOGGER),
  provide(ContractTotal, ChainReader, Witnesses, RangeRepair, SuspectRanges, LOGGER, INDEX_OPTIONS),
  provide(BalanceAudit, ChainReader, LOGGER),
  provide(
    WalletBalances,
    ChainReader,
    LogSource,
    IndexStore,
    Witnesses,
    BalanceAudit,
    SuspectRanges,
    IndexStatus,
    CLOCK,
    LOGGER,
    INDEX_OPTIONS,
  ),
  provide(
    Vouching,
    RpcPool,
    ChainReader,
    LogSource,
    Witnesses,
    SuspectRanges,
    SecondRead,
    ContractTotal,
    WalletBalances,
    LOGGER,
    INDEX_OPTIONS,
  ),
];

/** Keeps the index level with the chain. Needs the application's connections, metrics and health modules. */
@Module({
  providers: [
    ...VOUCHING,
    provide(IndexStore, Database),
    provide(BackfillProgress, CLOCK, LOGGER, IndexStatus, INDEX_OPTIONS),
    provide(IndexerMetrics, Registry, IndexStatus, BackfillProgress, CLOCK),
    provide(HeadsReader, ChainReader, LogSource, Witnesses, SuspectRanges, CLOCK),
    provide(
      IndexLoop,
      HeadsReader,
      Vouching,
      ChainReader,
      BackfillProgress,
      IndexStatus,
      IndexerMetrics,
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
