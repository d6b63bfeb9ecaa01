import { type Decision } from '../decision.js';
import { type RedemptionEvent, type RedemptionEventType } from '../redemption-event.js';
import { aClaim, anExpiry, aPlan, aRedemption, aUuid, CALL_ID, START_MS } from './builders.js';

const redemptionId = aRedemption('created').id;
const requestId = CALL_ID;

/** One event of each type, as in the ordinary course. */
export const EVENTS: { readonly [T in RedemptionEventType]: RedemptionEvent & { type: T } } = {
  'call-due': { type: 'call-due', requestId: aUuid(START_MS, 2), neverPaid: anExpiry() },
  'balance-refused': { type: 'balance-refused', code: 'ERR-INSUFFICIENT-POINTS' },
  'balance-unknown': { type: 'balance-unknown', reason: 'timeout' },
  'evidence-rejected': { type: 'evidence-rejected' },
  'deduct-confirmed': { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-1' },
  'deduct-id-reused': { type: 'deduct-id-reused', requestId },
  'deduct-refused': { type: 'deduct-refused', requestId, code: 'ERR-INSUFFICIENT-POINTS' },
  'deduct-duplicate': { type: 'deduct-duplicate', requestId },
  'deduct-unknown': { type: 'deduct-unknown', requestId, reason: 'timeout' },
  'deduct-not-sent': { type: 'deduct-not-sent', requestId },
  'plan-committed': { type: 'plan-committed', plan: aPlan() },
  'plan-failed': { type: 'plan-failed' },
  'payout-live': { type: 'payout-live', recheckMs: 12_000 },
  'payout-paid': { type: 'payout-paid', redemptionId, evidence: aClaim() },
  'payout-dead': { type: 'payout-dead', redemptionId, evidence: anExpiry() },
  'revert-confirmed': {
    type: 'revert-confirmed',
    requestId,
    partnerTransactionId: 'tx-1',
    partnerRevertId: 'rev-1',
  },
  'revert-already': { type: 'revert-already', requestId },
  'revert-not-found': { type: 'revert-not-found', requestId },
  'revert-amount-disputed': { type: 'revert-amount-disputed', requestId },
  'revert-not-sent': { type: 'revert-not-sent', requestId },
  'revert-unknown': { type: 'revert-unknown', requestId, reason: 'timeout' },
  cancel: { type: 'cancel', by: 'user' },
  'operator-retry': { type: 'operator-retry' },
  'operator-set-transaction': { type: 'operator-set-transaction', partnerTransactionId: 'tx-9' },
  'operator-restored': { type: 'operator-restored' },
  'operator-not-deducted': { type: 'operator-not-deducted' },
  'operator-settled': { type: 'operator-settled' },
};

/** The state that the decision leads to, or `!` and the code of its refusal. */
export function outcomeOf(decision: Decision): string {
  return decision.kind === 'moved' ? decision.next.state : `!${decision.code}`;
}
