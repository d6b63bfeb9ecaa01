export { startChain, type TestChain, type TestChainOptions } from './chain/start-chain.js';
export {
  stake,
  type StakeBlock,
  type StakeMove,
  type StakeTransaction,
  type StakingDeployment,
  StakingPlayer,
  withdraw,
} from '#libs/devchain';
export {
  CALLBACK_KEY,
  CALLBACK_SECRET,
  FakePartner,
  type PartnerAnswer,
  type PartnerBehaviour,
  type PartnerCall,
  refusal,
} from './partner/fake-partner.js';
export { aCredentialId, aPartnerId, aWebhookId } from './partner/ids.js';
export { aNewCredential, registerPartner } from './partner/register-partner.js';
export { EVIDENCE_KEY, testEvidence } from './evidence/test-evidence.js';
export { eventually } from './clock/eventually.js';
export { FakeClock } from './clock/fake-clock.js';
export { graveFaults } from './browser/grave-faults.js';
export { PAGE_PATIENCE_MS, startBrowser } from './browser/start-browser.js';
export { explained } from './database/explained.js';
export { seedRedemptions } from './database/seed-redemptions.js';
export { createTestDatabase, TestDatabase } from './database/test-database.js';
export { watchLocks } from './database/watch-locks.js';
export { PgBouncer } from './database/start-pgbouncer.js';
export { PostgresPair, startTestPostgres, TestServer } from './database/postgres-pair.js';
export { aBlock, aFold, anIndexOf, anInitialIndex, aWallet } from './database/index-builders.js';
export { stakeHistories } from './database/stake-histories.js';
export { listsOf } from './database/sealed-lists.js';
export * from './fake-node/index.js';
export { compileCache } from './programs/compile-cache.js';
export { TestRegistry } from './registry/test-registry.js';
export { startRedis, type TestRedis } from './redis/start-redis.js';
export { priceOf } from './replay/budget-meter.js';
export { changesOf, type ChainHistory, eventBlocksIn } from './replay/chain-history.js';
export { type ProviderBehaviour } from './replay/provider-behaviour.js';
export { type MethodCount, type ProviderStats } from './replay/provider-stats.js';
export { ReplayChain } from './replay/replay-chain.js';
export {
  FOLLOWED_POOL,
  type ReplayContracts,
  replayWallet,
  replayWalletNumber,
} from './replay/replay-contracts.js';
export { ReplaySource } from './replay/replay-methods.js';
export {
  ReplayProvider,
  type ReplayProviderOptions,
  startReplayProvider,
} from './replay/replay-provider.js';
export { REPLAY_SHAPES, type ReplayShape, slicedShape } from './replay/replay-shape.js';
export { type TestSeed, testSeeds } from './seeds/test-seeds.js';
export { type Outcome, VaultBench } from './vault/vault-bench.js';
export { exchange, type RawAnswer } from './wire/exchange.js';
export { HTTP_PIECES } from './wire/http-pieces.js';
export { nullFields } from './wire/null-fields.js';
export { wrongBodies, wrongQueries } from './wire/wrong-shapes.js';
export { TcpLink } from './wire/tcp-link.js';
export { ContractWallets, walletSignature } from './wallets/contract-wallets.js';
