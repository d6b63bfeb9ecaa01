export { lowmarkTokenAbi, lowmarkTokenBytecode } from './abi/lowmark-token.generated.js';
export { redemptionVaultAbi, redemptionVaultBytecode } from './abi/redemption-vault.generated.js';
export {
  redemptionVaultV2Abi,
  redemptionVaultV2Bytecode,
} from './abi/redemption-vault-v2.generated.js';
export { stakingAbi, stakingBytecode } from './abi/staking.generated.js';
export {
  AllEndpointsFailedError,
  ChainMismatchError,
  EndpointsDisagreeError,
  ExecutionRevertedError,
  FinalBlockRefusedError,
  isOutage,
  isTransient,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
} from './errors/rpc.errors.js';
export {
  loadStakeDescription,
  loadStakeEvents,
  parseStakeDescription,
  parseStakeEvents,
  type StakeDescription,
} from './events/parse-stake-events.js';
export { type StakeEffect, type StakeEventSpec } from './events/stake-event.js';
export { type Comparison } from './logs/compare-range.js';
export { EventMismatchError, isCounted } from './logs/event-decoder.js';
export {
  type FetchOptions,
  LogSource,
  type LogSourceOptions,
  type Tip,
} from './logs/log-source.js';
export { type BlockRange, type RangeAnswer } from './logs/range-logs.js';
export { RangeSizer, streamRanges } from './logs/range-stream.js';
export {
  ChainReader,
  type ChainReaderOptions,
  type Heads,
  type HeadsOptions,
  type TokenFacts,
} from './reader/chain-reader.js';
export { FINAL_BLOCK_CODES, type Finality, parseFinality } from './reader/final-blocks.js';
export { type PriceRound } from './reader/price-feeds.js';
export { multicallOf } from './reader/multicall.js';
export { parseStakeViews, type StakeView } from './reader/stake-view.js';
export {
  STAKE_BALANCE_VIEW_SETTING,
  STAKE_TOTAL_VIEW_SETTING,
  STAKE_VERIFICATION_SETTING,
} from './stake.settings.js';
export {
  type FigureOptions,
  resolveStakeViews,
  type StakeViewSettings,
  WALLETS_AT_ONCE,
} from './reader/stake-views.js';
export { computeUnitsOf, type RpcCall, type RpcResult } from './rpc/rpc-call.js';
export {
  type RpcObserver,
  type RpcRequestEvent,
  type RpcWaiting,
  type RpcWarning,
} from './rpc/rpc-observer.js';
export { endpointName } from './rpc/endpoint-urls.js';
export { RpcPool, type RpcPoolOptions, type RpcSession, type RunOptions } from './rpc/rpc-pool.js';
export { parseSiwe, type SiweMessage } from './siwe/siwe-message.js';
export { SIGN_IN_DISAGREEMENT, WalletSignatures } from './siwe/wallet-signatures.js';
export { type ClaimLook, ClaimReader, type ShownClaim } from './vault/claim-reader.js';
export {
  type DeployedVault,
  deployVault,
  isDevelopmentKey,
  publishedKeys,
  type VaultDeployment,
} from './vault/deploy-vault.js';
export { formatEther as formatCoin } from 'viem/utils';
export {
  addressOfKey,
  cancelCalldata,
  claimCalldata,
  type VaultPlace,
  type Voucher,
  VoucherSigner,
  voucherTypedData,
} from './vault/voucher.js';
export {
  type GasCaps,
  type GasFigure,
  GasRefusedError,
  VaultAccount,
  type VaultAccountOptions,
} from './vault/vault-account.js';
export { redemptionIdOf, type VaultEvent, type VaultId, vaultIdOf } from './vault/vault-event.js';
export {
  readVaultFacts,
  ttlFaults,
  type VaultFacts,
  vaultFaults,
  type VaultQuestion,
} from './vault/vault-facts.js';
export { isPausedByAll } from './vault/vault-status.js';
export { type VaultSpan } from './vault/vault-log-reader.js';
export { VaultReader, type VaultReaderOptions, type WatchedPayout } from './vault/vault-reader.js';
export { readVerificationOffer } from './verification/offer.js';
export {
  askFigure,
  askOtherProvider,
  countProviders,
  otherProvidersThan,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  providerOf,
  type ToldFigure,
} from './verification/providers.js';
export { COMPUTE_UNITS, PRICE_LISTS, type PriceList } from './verification/price-lists.js';
export {
  ANSWER_BYTES,
  callsInAll,
  SYNC_METHODS,
  syncCalls,
  type SyncCalls,
  type SyncFacts,
  type SyncMethod,
  unitsFor,
} from './verification/sync-cost.js';
export {
  chooseVerification,
  parseVerification,
  type Verification,
  VERIFICATION_MODES,
  type VerificationMode,
  type VerificationOffer,
  type VerificationSetting,
} from './verification/verification.js';
