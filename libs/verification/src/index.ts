export { auditIndex, requireIndex } from './audit-index.js';
export { findWrongWallets, requireContractAgrees, type WrongWallet } from './chain-comparison.js';
export { type ChainHistory, EventsInDoubtError, readChainHistory } from './chain-history.js';
export { type AuditQuestion } from './compare-balances.js';
export { indexedContracts } from './indexed-contracts.js';
export { NightlyAudit } from './nightly-audit.js';
export {
  agrees,
  agreesWithContract,
  AuditImpossibleError,
  type AuditResult,
  requireComparison,
  sumsAgree,
} from './verdict.js';
export { BalanceAudit } from './balance-audit.js';
