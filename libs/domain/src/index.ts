export {
  type AccountId,
  accountIdText,
  type Address,
  parseAccountId,
  parseAddress,
  ZERO_ADDRESS,
} from './chain/address.js';
export {
  aheadOfClock,
  type BlockHash,
  type BlockHeader,
  type BlockRef,
  differenceOf,
  type FinalStatement,
} from './chain/block.js';
export {
  type BalanceChange,
  type BalanceDay,
  type BlockDeltas,
  type StakeDelta,
  type WalletState,
} from './balance/balance.js';
export { foldBlocks, type FoldedBlocks, NegativeBalanceError } from './balance/fold-blocks.js';
export { DEFAULT_STAKE_SET, isStakeSetName, STAKE_SET_RULE } from './chain/stake-set.js';
export { dayOf, dayText, parseDay, SECONDS_PER_DAY } from './day/day.js';
export {
  LowmarkError,
  type LowmarkErrorOptions,
  PermanentError,
  RetryableError,
} from './errors/errors.js';
export {
  coverage,
  type CoverageGap,
  dailyMinima,
  type DailyMinimum,
  type DayWindow,
  MAX_AHEAD_SECONDS,
  windowBefore,
  windowOf,
} from './snapshot/snapshot.js';
export {
  compareDecimals,
  type Decimal,
  parseDecimal,
  smallestUnits,
  tokensText,
} from './amount/decimal.js';
export { averageStaked, ratioToNumber, tokensToNumber, valueOf } from './amount/ratio.js';
export { canonicalJson } from './signing/canonical-json.js';
export {
  type CancelEvent,
  type ClaimEvent,
  type Doubt,
  type EvidenceRules,
  type PayoutEvidence,
  payoutEvidence,
  type PayoutTerms,
  type VaultSighting,
  type VaultStatus,
} from './redemption/payout-evidence.js';
export {
  callEvent,
  type DeductEvent,
  deductEvent,
  lostCallEvent,
  type ReusedId,
  type RevertEvent,
  revertEvent,
} from './redemption/call-event.js';
export {
  type BalanceAnswer,
  type CallOutcome,
  type DeductAnswer,
  type NothingSent,
  type NothingSentReason,
  PARTNER_ERROR_CODES,
  PARTNER_STEPS,
  type PartnerAnswers,
  type PartnerErrorCode,
  type PartnerStep,
  type RefusedOutcome,
  type RevertAnswer,
  type SucceededOutcome,
  UNKNOWN_REASONS,
  type UnknownOutcome,
  type UnknownReason,
} from './redemption/partner-call.js';
export {
  evidenceContent,
  namesContent,
  needsEvidence,
  type PayoutPlace,
  sendsNames,
} from './redemption/evidence-content.js';
export { sessionContent, type SessionTerms } from './redemption/evidence-content.js';
export { type ConfirmationPayload, confirmationPayload } from './redemption/confirmation.js';
export {
  type Command,
  type Decision,
  type Moved,
  type Refusal,
  type RefusalCode,
  type TransitionContext,
} from './redemption/decision.js';
export {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryAlert,
  type DeliveryDecision,
  type DeliveryEvent,
  deliveryEvent,
  type DeliveryState,
  deliveryTransition,
  mayAwaitConfirming,
  newDelivery,
} from './redemption/delivery.js';
export {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  isProvenDead,
  mayRestore,
  payableUntilSeconds,
  provesNeverPaid,
  revertTarget,
} from './redemption/guards.js';
export { type AnsweredCall, judgeReply, type PartnerReply } from './redemption/partner-answer.js';
export {
  COOL_DOWN_MEMORY_DAYS,
  coolDownSeconds,
  type UnclaimedVouchers,
} from './redemption/limits.js';
export {
  type CoolDown,
  limitBreach,
  type LimitBreach,
  type LimitCode,
  type LimitedRequest,
  NO_PRICE,
  priceBreach,
  priceUsableUntilMs,
  type QuotedPrice,
  recordBreach,
  type RedemptionLimits,
  type RedemptionUsage,
  tokensLeftToday,
  type WalletRecord,
} from './redemption/limits.js';
export {
  type ExtraFields,
  type ParsedAnswer,
  parsePartnerAnswer,
} from './redemption/partner-answer.js';
export {
  PARTNER_CAPABILITIES,
  type PartnerCapability,
  type PartnerPolicy,
} from './redemption/partner-call.js';
export { payoutEvent } from './redemption/redemption-event.js';
export { mayAwaitPartner } from './redemption/revert-rules.js';
export { isFinal, type PublicStatus, publicStatus } from './redemption/redemption.js';
export {
  pointsWithin,
  type RedemptionAmounts,
  redemptionAmounts,
  type RedemptionQuote,
  type RedemptionRate,
} from './redemption/quote.js';
export {
  type DeductBody,
  type PartnerRequest,
  type RevertBody,
} from './redemption/partner-call.js';
export { alertsOf, type RedemptionAlert } from './redemption/alerts.js';
export {
  type EventOf,
  REDEMPTION_EVENT_TYPES,
  type RedemptionEvent,
  type RedemptionEventType,
} from './redemption/redemption-event.js';
export {
  type BookingStep,
  type DeadEvidence,
  newRedemption,
  type OpenCall,
  type PaidEvidence,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionReason,
  type RedemptionState,
  type RedemptionTerms,
  type ResumableState,
  type ReservationRefusal,
  type RevertReason,
  type RevertTarget,
} from './redemption/redemption.js';
export {
  CONFIRM_SCHEDULE,
  DEDUCT_SCHEDULE,
  nextAttemptAtMs,
  REVERT_SCHEDULE,
  type RetrySchedule,
} from './redemption/schedule.js';
export {
  type Difference,
  type DifferenceKind,
  type LedgerFigures,
  type Money,
  reconcile,
  type ReconciliationFigures,
  type Tokens,
  UNSETTLED_KINDS,
  type UnsettledClaims,
  type UnsettledKind,
  type VaultFigures,
} from './redemption/reconciliation.js';
export { cellOf, transition } from './redemption/transition.js';
export {
  mintUuidV7,
  parseUuidV7,
  UUID_V7_RANDOM_BYTES,
  type UuidV7,
  uuidV7Ms,
} from './redemption/uuid-v7.js';
export {
  addressBytes,
  compareBytes,
  type DayLeaf,
  type DayLow,
  FIRST_ADDRESS,
  isNodeHash,
  type Keccak256,
  LAST_ADDRESS,
  NODE_BYTES,
  type NodeHash,
  WALLET_BYTES,
} from './seal/day-leaf.js';
export { DayList, DayListBuilder, ENTRY_BYTES } from './seal/day-list.js';
export { buildDayTree, DayLeaves, DayTree, siblingsOf } from './seal/day-tree.js';
export { buildPeriodTree, type DayRoot } from './seal/period-tree.js';
export { type DayProof, provenLow, rootOf } from './seal/day-proof.js';
export {
  type AttemptOutcome,
  attemptOutcome,
  LONGEST_AVERAGE_DAYS,
  MOST_TIERS,
  TEST_EVENT,
  TIER_MEASURES,
  type TierMeasure,
  type TierRule,
  tierRuleFault,
  WEBHOOK_SCHEDULE,
  WEBHOOK_TOPICS,
  type WebhookTopic,
} from './webhook/webhook.js';
