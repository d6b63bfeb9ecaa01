export { type DatabaseOptions } from './connection/connection-options.js';
export { Database } from './connection/database.js';
export { createDatabase, type OpenOptions } from './migrations/create-database.js';
export { type Statement } from './connection/named.js';
export { LateDatabase } from './connection/late-database.js';
export {
  DatabaseRefusedError,
  DatabaseUnavailableError,
  isNotMigrated,
  isWithoutRight,
} from './connection/database.error.js';
export { type LogPage, type PageRequest } from './connection/page.js';
export { OLDEST_VERSION } from './migrations/migration-lock.js';
export { letOlderStart, migrate } from './stake-sets/migrate.js';
export { readSchema, SchemaUnsupportedError } from './migrations/schema-check.js';
export * from './index-store/audit-run.js';
export { AuditRunStore } from './index-store/audit-run-store.js';
export {
  FencedError,
  fingerprintOf,
  StaleHeadError,
  WrongStateError,
  IndexMissingError,
  type IndexSettings,
  type IndexState,
  type InitialIndexState,
  requireSameSettings,
  settingDifferences,
  type SettingPair,
  settingPairs,
  stakeContractsOf,
  SettingsChangedError,
} from './index-store/index-state.js';
export * from './seal/day-lows.js';
export * from './seal/seal-writer.js';
export { type SealedDay, SealOutdatedError } from './seal/sealed-day.js';
export { SealedDayStore, type SealSummary } from './seal/sealed-day-store.js';
export { LEAVES_IN_CHUNK, SealedListStore } from './seal/sealed-list-store.js';
export {
  clearFindings,
  type Findings,
  hasFindings,
  readFindings,
  recordFinding,
} from './index-store/finding-store.js';
export * from './index-store/repair-store.js';
export { type IndexBatch, IndexStore, ROLLBACK_WITHIN_MS } from './index-store/index-store.js';
export * from './index-store/index-sums.js';
export * from './index-store/partition-store.js';
export { type RollbackResult } from './index-store/rollback.js';
export * from './index-store/rewind-reader.js';
export * from './index-store/index-reader.js';
export * from './roles/foreign-settings.js';
export * from './roles/server-facts.js';
export { excessRights, missingRights } from './roles/held-rights.js';
export { logLostConnections, openOwnDatabase } from './roles/own-database.js';
export { type LoginUrls, prepareLogins, requireLoginUrls } from './roles/login-roles.js';
export { scramVerifier } from './roles/scram-verifier.js';
export { type Program, PROGRAM_ROLES, PROGRAMS } from './roles/rights.js';
export { LeaderLock, leaderLockOf, reindexingLockOf } from './index-store/leader-lock.js';
export * from './partners/credential-store.js';
export {
  type PartnerAudit,
  type PartnerIdentity,
  type PartnerTerms,
  PartnerUnknownError,
  type RateLimits,
} from './partners/partner-changes.js';
export * from './partners/sealed-secret-store.js';
export * from './partners/partner-store.js';
export { type Price, type PriceHold, type PriceReference } from './prices/price.js';
export {
  type PriceAcceptance,
  PriceAcceptanceStore,
  PriceMovedError,
  PriceNotHeldError,
} from './prices/price-acceptance-store.js';
export { PriceStore } from './prices/price-store.js';
export * from './snapshots/snapshot-store.js';
export { type WindowSink } from './snapshots/window-days.js';
export {
  type BalanceMoment,
  type WalletHistory,
  WalletHistoryStore,
} from './snapshots/wallet-history-store.js';
export {
  type CallbackSettings,
  CallbackStore,
  type PartnerCallback,
  PartnerMissingError,
} from './partners/callback-store.js';
export * from './redemption/claim-store.js';
export { decimalText } from './connection/rows.js';
export * from './redemption/delivery-store.js';
export * from './redemption/ledger-restore-store.js';
export * from './redemption/claim-watch-store.js';
export * from './redemption/coin-store.js';
export { type KnownVault, KnownVaults } from './redemption/vault-claims.js';
export { type Books, type LastRun } from './redemption/reconciliation-books.js';
export { ReconciliationStore } from './redemption/reconciliation-store.js';
export { type Checkpoint, type VaultClaim } from './redemption/vault-claims.js';
export {
  type Publication,
  type PublicationContent,
  type PublicationStatus,
  type RegistryPlace,
  type StoredTransaction,
} from './seal/publication.js';
export * from './seal/publication-store.js';
export * from './seal/publication-views.js';
export * from './seal/publishable-days.js';
export { NonceStore } from './redemption/nonce-store.js';
export * from './redemption/redemption.error.js';
export { RedemptionHints } from './redemption/redemption-hints.js';
export { EvidenceAdoption } from './redemption/evidence-adoption.js';
export {
  type EvidenceSeal,
  type ReadRows,
  type RowMacs,
  type StoredRedemption,
  verifiedRow,
} from './redemption/redemption-row.js';
export { AttemptStore, type IdempotencyKey } from './redemption/redemption-creation.js';
export * from './redemption/redemption-store.js';
export * from './redemption/redemption-views.js';
export { type AuditEntry, AuditLog } from './redemption/audit-log.js';
export {
  type CallsOfHour,
  type LoggedCall,
  type LoggedTransition,
  type PartnerTrouble,
  RedemptionLog,
} from './redemption/redemption-log.js';
export * from './redemption/redemption-pages.js';
export * from './stake-sets/reindexing.js';
export { type IndexPart, UnknownStakeSetError } from './connection/stake-set.js';
export { StakeSetStore } from './stake-sets/stake-set-store.js';
export { SessionStore } from './redemption/session-store.js';
export {
  type CallEnd,
  committedPlace,
  macsOf,
  type ReservationLimits,
  type TransitionWrite,
} from './redemption/transition-write.js';
export * from './console/approval-store.js';
export { type ConformanceOutcome, ConformanceRunStore } from './console/conformance-run-store.js';
export {
  type ConformanceDeduction,
  ConformanceDeductionStore,
} from './console/conformance-deduction-store.js';
export * from './console/console-session-store.js';
export { forgetExpired } from './console/forget-expired.js';
export { type GrantedRole, GrantedRoleStore } from './console/granted-role-store.js';
export * from './console/invitation-store.js';
export * from './console/login-attempt-store.js';
export { type Member, MemberStore } from './console/member-store.js';
export { MemberLimitStore } from './console/member-limit-store.js';
export * from './console/sign-in-link-store.js';
export * from './console/sign-in-log.js';
export { type OperatorRole, type Person, type Standing } from './console/standing.js';
export * from './partners/request-batch.js';
export { RequestLogStore } from './partners/request-log-store.js';
export * from './index-store/correction-store.js';
export * from './portal/portal-database.js';
export * from './portal/conformance.js';
export * from './portal/own-standing.js';
export * from './portal/redemption-page.js';
export * from './portal/request-page.js';
export * from './webhooks/index.js';
