export { audited, auditedText } from './audit/audited.js';
export {
  type AuditedCommand,
  type Operator,
  OPERATOR_NAME,
  operatorActor,
} from './audit/operator.js';
export {
  acknowledgeClaim,
  CLAIM_OVERDUE_MS,
  type ClaimAcknowledgement,
  parseClaimId,
  parseClaimNote,
  unexplainedClaims,
} from './claims.js';
export { CONSEQUENCES } from './consequences.js';
export {
  INVITATION_STATES,
  invitationState,
  type InvitationWish,
  invitePartner,
  REMOVE_MEMBER_CONSEQUENCE,
  removeMember,
  withdrawInvitation,
} from './console/invitations.js';
export {
  LINK_NAME,
  makeSignInLink,
  type PrintedLink,
  type SignInLinkWish,
} from './console/sign-in-link.js';
export {
  acknowledgePublication,
  openingProof,
  type OpeningProof,
  type PublicationLine,
  registryStatus,
  type RegistryStatus,
} from './registry/registry.js';
export {
  type LedgerRestoreNote,
  noteLedgerRestore,
  restoreConsequence,
  restoreSummary,
  TTL_SECONDS,
  vouchersUntil,
} from './ledger.js';
export { OptionError } from './operation.error.js';
export {
  auditedChange,
  type CallbackChange,
  callbackNotes,
  mergeCallback,
  NONE,
  onlyCutsBudget,
  type OrNone,
  setsCallback,
} from './partners/callback.js';
export {
  type CredentialReplacement,
  type CredentialRevocation,
  type IssuedCredential,
  KEY_PREFIX,
  LONGEST_OVERLAP_HOURS,
  replaceCredential,
  revokeCredential,
  rotateCredential,
  type Rotation,
} from './partners/credentials.js';
export {
  type ChangedPartner,
  type CreatedPartner,
  createPartner,
  type FoundPartner,
  listPartners,
  LONGEST_PARTNER_NAME,
  type NewPartner,
  NOTHING_TO_SET,
  parsePartnerName,
  type PartnerChange,
  pausePartner,
  setPartner,
} from './partners/partners.js';
export { type PingReport } from './partners/ping-report.js';
export { type Ping, pingPartner } from './partners/ping.js';
export { acceptPrice, HELD_BECAUSE, type ShownPrice, showPrice } from './price.js';
export {
  type ActionInput,
  type ActionName,
  allowedActions,
  type OperatorAction,
} from './redemptions/actions.js';
export {
  adoptRedemptions,
  type ForeignRedemption,
  foreignRedemptions,
} from './redemptions/adopt.js';
export {
  chainEvidence,
  forgottenVaults,
  type ForgottenVaults,
  type LiveEvidence,
} from './redemptions/chain-evidence.js';
export { evidenceKeys, EvidenceSettings } from './redemptions/evidence.settings.js';
export { liveText, payoutFields, type ShownField, standingFields } from './redemptions/fields.js';
export {
  type FoundRedemptions,
  type ListedRedemption,
  type RedemptionQuestion,
  searchRedemptions,
  type ShownRedemption,
  showRedemption,
} from './redemptions/find.js';
export {
  operate,
  type Operated,
  type Operation,
  type OperatorEvent,
  RefusedOperationError,
} from './redemptions/operate.js';
export {
  performAction,
  ViewOutdatedError,
  type WantedAction,
} from './redemptions/perform-action.js';
export { refusedActions } from './redemptions/named-actions.js';
export { inPageWords } from './text/page-words.js';
export { replayConfirmation } from './redemptions/replay-confirmation.js';
export {
  isSettlementNote,
  LONGEST_NOTE,
  NOT_DEDUCTED,
  type Resolution,
  RESTORED_OUT_OF_BAND,
  SETTLED_BY_HAND,
} from './redemptions/resolutions.js';
export { attentionAdvice, waitsFor } from './redemptions/waits-for.js';
export {
  type KeyStanding,
  type KeyUse,
  type LeftSecret,
  neededOf,
  type Rewrapped,
  rewrapSecrets,
  secretsStatus,
} from './secrets/stored-secrets.js';
export {
  type AuditRequest,
  auditNow,
  auditWallet,
  type LastAudits,
  lastAudits,
  type WalletAudit,
} from './staking/audits.js';
export { StakingSettings } from './staking/staking.settings.js';
export { DEFAULT_EVENTS, differenceText, givenSettings, stakeReader } from './staking/staking.js';
export { duration, fromNow, isPlainLine, moment, printable, tokensText } from './text/text.js';
export {
  addWebhook,
  listWebhooks,
  type NewWebhook,
  pauseWebhook,
  removeWebhook,
  replayWebhook,
  rotateWebhook,
  setWebhook,
  testWebhook,
  type WebhookChange,
  type WebhookChoice,
  webhookEventId,
  type WebhookRotation,
} from './webhooks/webhooks.js';
