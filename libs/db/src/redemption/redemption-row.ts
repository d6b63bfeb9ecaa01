/** A redemption as a row of redemption.redemption, and back. */
import {
  type Address,
  parseDecimal,
  type PayoutTerms,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { addressOf } from '../rows.js';
import { decimalText } from './decimal-text.js';
import { deadJson, deadOf, openCallJson, paidJson, paidOf } from './evidence-json.js';
import { type Moment, type RedemptionRow } from './redemption-columns.js';

/** Where a payout plan is good, beside its terms; frozen with them. */
export interface PayoutPlace {
  readonly vault: Address;
  readonly chainId: number;
  /** Where the search for the payout's events begins: final before the voucher was signed. */
  readonly fromBlock: bigint;
}

export interface StoredRedemption {
  readonly redemption: Redemption;
  /** There as soon as the redemption has a plan. */
  readonly place: PayoutPlace | null;
  /** The row bears our MAC; only a store that has the keys says so. Without it nothing is deducted, planned or signed. */
  readonly isSealed?: true;
  /** What the row calls its deduction bears our MAC, or it names none; else no revert names it. Only a store that has the keys says so. */
  readonly namesAreOurs?: true;
}

export function termValues(redemption: Redemption): unknown[] {
  return [
    redemption.id,
    redemption.partner,
    addressBytes(redemption.wallet),
    redemption.points,
    decimalText(redemption.usdAmount),
    redemption.tokenAmount,
    redemption.tokenDecimals,
    decimalText(redemption.priceUsd),
    at(redemption.quoteExpiresAtMs),
    at(redemption.initialAtMs),
  ];
}

export function stateValues(redemption: Redemption): unknown[] {
  const { plan, openCall, deadEvidence, paidEvidence, attempts } = redemption;
  return [
    redemption.state,
    redemption.version,
    redemption.reason,
    redemption.revertReason,
    redemption.resume,
    redemption.exposure,
    redemption.unprovenAttempts,
    openCall && JSON.stringify(openCallJson(openCall)),
    redemption.partnerTransactionId,
    redemption.partnerRevertId,
    redemption.candidateTransactionIds,
    redemption.redemptionIdRefuted,
    plan && addressBytes(plan.recipient),
    plan && plan.amount,
    plan && plan.deadlineSeconds,
    deadEvidence && JSON.stringify(deadJson(deadEvidence)),
    paidEvidence && JSON.stringify(paidJson(paidEvidence)),
    attempts.deduct,
    attempts.payout,
    attempts.revert,
    at(redemption.firstDeductAtMs),
    at(redemption.lastDeductAtMs),
    at(redemption.firstRevertAtMs),
    at(redemption.firstNotFoundAtMs),
    at(redemption.nextActionAtMs),
    at(redemption.stateSinceMs),
    at(redemption.pendingAtMs),
    at(redemption.deductedAtMs),
    at(redemption.authorisedAtMs),
    at(redemption.claimedAtMs),
    at(redemption.revertedAtMs),
    at(redemption.failedAtMs),
  ];
}

export function redemptionOf(row: RedemptionRow): Redemption {
  return {
    id: row.id as UuidV7,
    partner: row.partner,
    wallet: addressOf(row.wallet),
    points: BigInt(row.points),
    usdAmount: parseDecimal(row.usd_amount),
    tokenAmount: BigInt(row.token_amount),
    tokenDecimals: row.token_decimals,
    priceUsd: parseDecimal(row.price_usd),
    quoteExpiresAtMs: row.quote_expires_at.getTime(),
    state: row.state,
    version: row.version,
    reason: row.reason,
    revertReason: row.revert_reason,
    resume: row.resume,
    exposure: row.exposure,
    unprovenAttempts: row.unproven_attempts,
    openCall: row.open_call,
    partnerTransactionId: row.partner_transaction_id,
    partnerRevertId: row.partner_revert_id,
    candidateTransactionIds: row.candidate_transaction_ids,
    redemptionIdRefuted: row.redemption_id_refuted,
    plan: planOf(row),
    deadEvidence: row.dead_evidence && deadOf(row.dead_evidence),
    paidEvidence: row.paid_evidence && paidOf(row.paid_evidence),
    lostVoucherUntilSeconds:
      row.lost_voucher_until_seconds === null ? null : Number(row.lost_voucher_until_seconds),
    attempts: {
      deduct: row.deduct_attempts,
      payout: row.payout_attempts,
      revert: row.revert_attempts,
    },
    firstDeductAtMs: msOf(row.first_deduct_at),
    lastDeductAtMs: msOf(row.last_deduct_at),
    firstRevertAtMs: msOf(row.first_revert_at),
    firstNotFoundAtMs: msOf(row.first_not_found_at),
    nextActionAtMs: msOf(row.next_action_at),
    stateSinceMs: row.state_since_at.getTime(),
    initialAtMs: row.initial_at.getTime(),
    pendingAtMs: msOf(row.pending_at),
    deductedAtMs: msOf(row.deducted_at),
    authorisedAtMs: msOf(row.authorised_at),
    claimedAtMs: msOf(row.claimed_at),
    revertedAtMs: msOf(row.reverted_at),
    failedAtMs: msOf(row.failed_at),
  };
}

function planOf(row: RedemptionRow): PayoutTerms | null {
  const { plan_recipient, plan_amount, plan_deadline_seconds } = row;
  if (plan_recipient === null || plan_amount === null || plan_deadline_seconds === null) {
    return null;
  }
  return {
    recipient: addressOf(plan_recipient),
    amount: BigInt(plan_amount),
    deadlineSeconds: Number(plan_deadline_seconds),
  };
}

export function placeOf({ plan_vault, plan_chain_id, plan_from_block }: RedemptionRow) {
  if (plan_vault === null || plan_chain_id === null || plan_from_block === null) return null;
  return {
    vault: addressOf(plan_vault),
    chainId: Number(plan_chain_id),
    fromBlock: BigInt(plan_from_block),
  };
}

export function addressBytes(address: Address): Buffer {
  return Buffer.from(address.slice(2), 'hex');
}

/** Unix milliseconds as a timestamptz. */
export function at(ms: number | null): Moment {
  return ms === null ? null : new Date(ms);
}

export function msOf(moment: Moment): number | null {
  return moment === null ? null : moment.getTime();
}
