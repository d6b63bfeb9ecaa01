export {
  audited,
  auditedText,
  type Operator,
  OPERATOR_NAME,
  operatorActor,
} from './audit/audited.js';
export * from './claims.js';
export * from './console/invitations.js';
export * from './console/sign-in-link.js';
export * from './registry/registry.js';
export * from './ledger.js';
export { OptionError } from './operation.error.js';
export * from './operation/field.js';
export { OnPartner } from './operation/on-partner.js';
export * from './operation/operation.js';
export { AlreadyDoneError, keptNote, REASON } from './operation/page-fields.js';
export { consequences } from './operations.js';
export * from './partners/callback.js';
export {
  AddCredential,
  type IssuedCredential,
  KEY_PREFIX,
  LONGEST_OVERLAP_HOURS,
  replaceCredential,
  RevokeCredential,
  type RevokedCredential,
} from './partners/credentials.js';
export * from './partners/partner-reference.js';
export * from './partners/partners.js';
export { PingPartner, type PingReport } from './partners/ping.js';
export { AcceptPrice, HELD_BECAUSE, type ShownPrice, showPrice } from './price.js';
export * from './redemptions/actions.js';
export * from './redemptions/adopt.js';
export * from './redemptions/chain-evidence.js';
export { liveText, payoutFields, standingFields } from './redemptions/fields.js';
export * from './redemptions/find.js';
export * from './redemptions/redemption-operations.js';
export * from './redemptions/refused-operation.error.js';
export { refusedActions } from './redemptions/named-actions.js';
export { asCommand, asTitle } from './text/action-words.js';
export { isMoment } from './text/is-moment.js';
export { waitsFor } from './redemptions/waits-for.js';
export * from './secrets/stored-secrets.js';
export * from './staking/audits.js';
export * from './staking/compare-indexes.js';
export {
  applyRepair,
  completeRepairs,
  isRight,
  planRepair,
  type RepairContext,
  type RepairDone,
  type RepairPlan,
} from './staking/repair.js';
export * from './staking/rewind.js';
export { type ToldCorrection } from './staking/tell-corrections.js';
export { StakingSettings } from './staking/staking.settings.js';
export {
  DEFAULT_EVENTS,
  differenceText,
  givenSettings,
  settingText,
  stakeReader,
} from './staking/staking.js';
export {
  counted,
  duration,
  fromNow,
  isPlainLine,
  moment,
  printable,
  tokensText,
} from './text/text.js';
export * from './webhooks/webhooks.js';
