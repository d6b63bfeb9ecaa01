export { toQuantity, wideQuantity } from './shape/hex.js';
export { type GasCaps, GasRefusedError } from './accounts/gas-quotes.js';
export { lowmarkTokenAbi, lowmarkTokenBytecode } from './abi/lowmark-token.generated.js';
export { redemptionVaultAbi, redemptionVaultBytecode } from './abi/redemption-vault.generated.js';
export {
  redemptionVaultV2Abi,
  redemptionVaultV2Bytecode,
} from './abi/redemption-vault-v2.generated.js';
export {
  snapshotRegistryAbi,
  snapshotRegistryBytecode,
} from './abi/snapshot-registry.generated.js';
export { stakingAbi, stakingBytecode } from './abi/staking.generated.js';
export {
  AllEndpointsFailedError,
  ChainMismatchError,
  EndpointsDisagreeError,
  ExecutionRevertedError,
  isOutage,
  isTransient,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcError,
  sizeFailureIn,
  unlessAllFail,
  unlessOut,
} from './errors/rpc.errors.js';
export {
  loadStakeDescription,
  loadStakeEvents,
  parseStakeDescription,
  parseStakeEvents,
  type StakeDescription,
} from './events/parse-stake-events.js';
export { type StakeEventSpec } from './events/stake-event.js';
export { type Comparison } from './logs/compare-range.js';
export { isCounted } from './logs/event-decoder.js';
export { type FetchOptions, LogSource, type Tip } from './logs/log-source.js';
export { type BlockRange, type RangeAnswer } from './logs/range-logs.js';
export { RangeSizer, streamRanges } from './logs/range-stream.js';
export { ChainReader, type ChainReaderOptions, type Heads } from './reader/chain-reader.js';
export { FINAL_BLOCK_CODES, parseFinality } from './reader/final-blocks.js';
export { type PriceRound, type TokenFacts } from './reader/contract-facts.js';
export { multicallOf } from './reader/multicall.js';
export { type StakeView } from './reader/stake-view.js';
export {
  chooseVerification,
  readVerificationOffer,
  STAKE_BALANCE_VIEW_SETTING,
  STAKE_TOTAL_VIEW_SETTING,
  STAKE_VERIFICATION_SETTING,
  type Verification,
  type VerificationMode,
  type VerificationOffer,
  type VerificationSetting,
} from './verification/verification.js';
export { type FigureOptions, resolveStakeViews, WALLETS_AT_ONCE } from './reader/stake-views.js';
export { deployRegistry, deployVault } from './deployment/deploy-contracts.js';
export { type SignedTransaction } from './accounts/sending-account.js';
export { RegistryAccount, type RegistryTransaction } from './registry/registry-account.js';
export {
  openDayCalldata,
  publishCalldata,
  type RegistryEntry,
  type RegistrySlot,
} from './registry/registry-entry.js';
export {
  isStakedIn,
  PUBLICATIONS_KEPT,
  readRegistryFacts,
  type RegistryFacts,
  registryFaults,
  stakedInText,
} from './registry/registry-facts.js';
export {
  RegistryReader,
  type RegistrySight,
  SLOTS_AT_ONCE,
  type SlotSight,
} from './registry/registry-reader.js';
export { type RpcCall, type RpcResult } from './rpc/rpc-call.js';
export { type RpcObserver, type RpcWarning } from './rpc/rpc-observer.js';
export {
  askFigure,
  askOtherProvider,
  countProviders,
  endpointName,
  otherProvidersThan,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  providerOf,
  type ToldFigure,
} from './rpc/endpoint-urls.js';
export { RpcPool } from './rpc/rpc-pool.js';
export { headerCall } from './shape/header.js';
export { parseSiwe, type SiweMessage } from './siwe/siwe-message.js';
export {
  isSignedByAccount,
  SIGN_IN_DISAGREEMENT,
  WalletSignatures,
} from './siwe/wallet-signatures.js';
export { ClaimReader, type ShownClaim } from './vault/claim-reader.js';
export { formatEther as formatCoin } from 'viem/utils';
export { addressOfKey, publishedKeys } from './accounts/private-key.js';
export {
  cancelCalldata,
  claimCalldata,
  type VaultPlace,
  type Voucher,
  VoucherSigner,
  voucherTypedData,
} from './vault/voucher.js';
export { VaultAccount } from './vault/vault-account.js';
export { redemptionIdOf, type VaultEvent, vaultIdOf } from './vault/vault-event.js';
export {
  isPausedByAll,
  readVaultFacts,
  ttlFaults,
  type VaultFacts,
  vaultFaults,
  type VaultQuestion,
} from './vault/vault-facts.js';
export { VaultReader } from './vault/vault-reader.js';
export {
  ANSWER_BYTES,
  callsInAll,
  COMPUTE_UNITS,
  PRICE_LISTS,
  SYNC_METHODS,
  syncCalls,
  type SyncCalls,
  type SyncFacts,
  type SyncMethod,
  unitsFor,
} from './verification/sync-cost.js';
