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
  type DayBalance,
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
  type PayoutEvidence,
  payoutEvidence,
  type PayoutTerms,
  type VaultSighting,
  type VaultStatus,
} from './redemption/payout-evidence.js';
export { callEvent, lostCallEvent, type ReusedId } from './redemption/call-event.js';
export {
  type BalanceAnswer,
  type CallOutcome,
  type DeductBody,
  type NothingSentReason,
  PARTNER_CAPABILITIES,
  PARTNER_ERROR_CODES,
  PARTNER_STEPS,
  type PartnerCapability,
  type PartnerErrorCode,
  type PartnerPolicy,
  type PartnerRequest,
  type PartnerStep,
  type RevertBody,
  type UnknownReason,
} from './redemption/partner-call.js';
export {
  evidenceContent,
  namesContent,
  needsEvidence,
  type PayoutPlace,
  sendsNames,
  sessionContent,
  type SessionTerms,
} from './redemption/evidence-content.js';
export { type ConfirmationPayload, confirmationPayload } from './redemption/confirmation.js';
export {
  type Command,
  type Decision,
  type Moved,
  type Refusal,
  type RefusalCode,
} from './redemption/decision.js';
export {
  type Delivery,
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
  payableUntilSeconds,
  revertTarget,
} from './redemption/guards.js';
export {
  type AnsweredCall,
  type ExtraFields,
  judgeReply,
  parsePartnerAnswer,
} from './redemption/partner-answer.js';
export {
  COOL_DOWN_MEMORY_DAYS,
  type CoolDown,
  coolDownSeconds,
  type LimitBreach,
  limitBreach,
  type LimitCode,
  NO_PRICE,
  priceBreach,
  priceUsableUntilMs,
  type QuotedPrice,
  recordBreach,
  type RedemptionLimits,
  tokensLeftToday,
  type WalletRecord,
} from './redemption/limits.js';
export { type EventOf, payoutEvent, type RedemptionEvent } from './redemption/redemption-event.js';
export { mayAwaitPartner } from './redemption/revert-rules.js';
export {
  type BookingStep,
  type DeadEvidence,
  isFinal,
  newRedemption,
  type OpenCall,
  type PaidEvidence,
  publicStatus,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionReason,
  type RedemptionState,
  type ReservationRefusal,
  type RevertReason,
} from './redemption/redemption.js';
export {
  pointsWithin,
  type RedemptionAmounts,
  redemptionAmounts,
  type RedemptionQuote,
  type RedemptionRate,
} from './redemption/quote.js';
export { alertsOf } from './redemption/alerts.js';
export { nextAttemptAtMs, type RetrySchedule } from './redemption/schedule.js';
export {
  type Difference,
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
