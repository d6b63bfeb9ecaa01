export * from './values/address.js';
export * from './values/block.js';
export * from './balance/balance.js';
export {
  foldBlocks,
  type FoldedBlocks,
  type FoldedDay,
  type FoldedWallet,
  NegativeBalanceError,
  type WalletStates,
} from './balance/fold-blocks.js';
export * from './balance/wallet-rows.js';
export { DEFAULT_STAKE_SET, isStakeSetName, STAKE_SET_RULE } from './values/stake-set.js';
export { dayOf, dayText, parseDay, SECONDS_PER_DAY } from './values/day.js';
export * from './values/errors.js';
export * from './values/ids.js';
export * from './balance/snapshot.js';
export * from './values/decimal.js';
export * from './values/ratio.js';
export { canonicalJson } from './values/canonical-json.js';
export * from './redemption/payout-evidence.js';
export { balanceEvent, callEvent, lostCallEvent, type ReusedId } from './redemption/call-event.js';
export * from './redemption/partner-call.js';
export * from './redemption/evidence-content.js';
export { type ConfirmationPayload, confirmationPayload } from './redemption/confirmation.js';
export {
  type Command,
  type Decision,
  type Moved,
  type Refusal,
  type RefusalCode,
} from './redemption/decision.js';
export * from './redemption/delivery.js';
export {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  isProvenDead,
  payableUntilSeconds,
  revertTarget,
} from './redemption/guards.js';
export { type AnsweredCall, judgeReply } from './redemption/partner-answer.js';
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
export { needsBalance } from './redemption/deduct-rules.js';
export { mayAwaitPartner } from './redemption/revert-rules.js';
export * from './redemption/redemption.js';
export * from './redemption/quote.js';
export { alertsOf } from './redemption/alerts.js';
export { nextAttemptAtMs, type RetrySchedule } from './redemption/schedule.js';
export * from './redemption/reconciliation.js';
export { cellOf, transition } from './redemption/transition.js';
export * from './redemption/uuid-v7.js';
export {
  addressBytes,
  compareBytes,
  type DayLeaf,
  type DayLow,
  FIRST_ADDRESS,
  isNodeHash,
  type Keccak256,
  LAST_ADDRESS,
  LeafEncoder,
  LOW_BYTES,
  NODE_BYTES,
  type NodeHash,
  nodeFrom,
  readAmount,
  WALLET_BYTES,
  writeAmount,
} from './seal/day-leaf.js';
export { DayList, DayListBuilder, ENTRY_BYTES } from './seal/day-list.js';
export {
  ascendingOrder,
  buildDayTree,
  DayLeaves,
  DayTree,
  inOrder,
  siblingsOf,
} from './seal/day-tree.js';
export { type DayProof, provenLow, rootOf } from './seal/day-proof.js';
export * from './webhook/webhook.js';
