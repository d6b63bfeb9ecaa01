export * from './abi/lowmark-token.generated.js';
export * from './abi/redemption-vault.generated.js';
export * from './abi/snapshot-registry.generated.js';
export * from './abi/staking.generated.js';
export { GasRefusedError } from './accounts/gas-quotes.js';
export { addressOfKey, publishedKeys } from './accounts/private-key.js';
export { type SignedTransaction } from './accounts/sending-account.js';
export * from './deployment/deploy-contracts.js';
export * from './rpc/rpc.errors.js';
export { STANDS_STILL_SECONDS } from './blocks/header.js';
export * from './stake/parse-stake-events.js';
export { type StakeEventSpec } from './stake/stake-event.js';
export { type FetchOptions, LogSource, type Tip } from './logs/log-source.js';
export { type BlockRange, changeOf, type Confirmation, type ReadRange } from './logs/read-range.js';
export { type Comparison } from './logs/range-reader.js';
export { RangeSizer, streamRanges } from './logs/range-stream.js';
export {
  accepted,
  agreed,
  askStatement,
  believed,
  Quorum,
  type Statement,
} from './quorum/quorum.js';
export { isCounted } from './logs/range-logs.js';
export { ChainReader, type ChainReaderOptions, type Heads } from './reader/chain-reader.js';
export { type PriceRound, type TokenFacts } from './reader/contract-facts.js';
export { FINAL_BLOCK_CODES, parseFinality } from './reader/final-blocks.js';
export { multicallOf } from './calls/multicall.js';
export { parseStakeViews, type StakeView } from './stake/stake-view.js';
export { type FigureOptions, resolveStakeViews, WALLETS_AT_ONCE } from './calls/stake-views.js';
export { RegistryAccount, type RegistryTransaction } from './registry/registry-account.js';
export { publishCalldata } from './registry/registry-root.js';
export * from './registry/registry-facts.js';
export * from './registry/registry-reader.js';
export * from './rpc/endpoint-urls.js';
export { computeUnitsOf, type RpcCall, type RpcResult } from './rpc/rpc-call.js';
export { type RpcObserver, type RpcWarning } from './rpc/rpc-observer.js';
export { type PostBody } from './rpc/http-exchange.js';
export { RpcPool } from './rpc/rpc-pool.js';
export { headerCall, refOf } from './blocks/header.js';
export { toQuantity, wideQuantity } from './rpc/hex.js';
export { parseSiwe, type SiweMessage } from './siwe/siwe-message.js';
export {
  isSignedByAccount,
  SIGN_IN_DISAGREEMENT,
  WalletSignatures,
} from './siwe/wallet-signatures.js';
export { ClaimReader, type ShownClaim } from './vault/claim-reader.js';
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
export * from './vault/voucher.js';
export * from './reader/sync-cost.js';
export * from './reader/verification.js';
export { formatEther as formatCoin } from 'viem/utils';
