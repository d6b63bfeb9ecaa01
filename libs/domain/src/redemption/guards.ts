/**
 * The guards against giving points back and paying tokens for one redemption, and against doing neither (rules D to G).
 * Each guard is one function, used wherever its rule applies.
 */
import { type Address } from '../values/address.js';
import { type PartnerPolicy } from './partner-call.js';
import {
  type DeadEvidence,
  type OpenCall,
  type PaidEvidence,
  type Redemption,
  type RevertTarget,
} from './redemption.js';

/**
 * Milliseconds after which no copy of a call has any effect at a partner that enforces freshness. A receiver refuses a
 * call whose `X-API-REQUEST` is more than 300 s from its own clock, and a clock that accepts our calls at all is at
 * most 300 s behind ours.
 */
export const FRESHNESS_WINDOW_MS = 600_000;

/**
 * Whether the ledger was restored from a backup after the redemption was created. Its row may then lack calls, a plan,
 * a voucher and the claim.
 */
export function isLedgerRestored({ lostVoucherUntilSeconds }: Redemption): boolean {
  return lostVoucherUntilSeconds !== null;
}

/**
 * The latest block time, in Unix seconds, at which the vault may still pay the redemption, by its plan or by a voucher
 * that a restored ledger lacks. 0 where there is neither.
 */
export function payableUntilSeconds({
  plan,
  lostVoucherUntilSeconds,
}: Pick<Redemption, 'plan' | 'lostVoucherUntilSeconds'>): number {
  return Math.max(plan?.deadlineSeconds ?? 0, lostVoucherUntilSeconds ?? 0);
}

/** Rule F, for new evidence: a final block shows that the vault can never pay this redemption. */
export function provesDead(redemption: Redemption, evidence: DeadEvidence): boolean {
  switch (evidence.reason) {
    case 'expired':
      // A block whose timestamp is the deadline still pays.
      return evidence.finalised.timestampSeconds > payableUntilSeconds(redemption);
    case 'cancelled':
      return evidence.block.number <= evidence.finalised.number;
  }
}

/** Rule G: a final block holds a claim with exactly the plan's recipient and amount. */
export function provesPaid(
  plan: { readonly recipient: Address; readonly amount: bigint },
  evidence: PaidEvidence,
): boolean {
  return (
    evidence.block.number <= evidence.finalised.number &&
    evidence.recipient === plan.recipient &&
    evidence.amount === plan.amount
  );
}

/** Rule F, for a redemption with a plan: the evidence in its row proves the payout dead. */
export function isProvenDead(redemption: Redemption): boolean {
  const { plan, deadEvidence } = redemption;
  return plan !== null && deadEvidence !== null && provesDead(redemption, deadEvidence);
}

/**
 * Rule F, for a row: whether its points may be given back, be it for a timer, a user or an operator. A revert call
 * needs `provesNeverPaid` as well.
 */
export function mayRestore(redemption: Redemption): boolean {
  if (redemption.paidEvidence !== null) return false;
  return redemption.plan === null || isProvenDead(redemption);
}

/**
 * Rule F, before each revert call: the vault must have stated just now that it never pays the redemption. The row is no
 * proof, because a stolen credential of the ledger can write one. A voucher that a restored ledger lacks is proven dead
 * after its latest possible deadline.
 */
export function provesNeverPaid(
  redemption: Redemption,
  evidence: DeadEvidence | undefined,
): boolean {
  return evidence !== undefined && provesDead(redemption, evidence);
}

/**
 * Rule D: no deduct call is left that may have deducted points without our knowledge. A restored ledger may lack calls.
 */
export function nothingUnproven({
  unprovenAttempts,
  lostVoucherUntilSeconds,
}: Redemption): boolean {
  return unprovenAttempts === 0 && lostVoucherUntilSeconds === null;
}

/** Unix milliseconds until which the partner may still accept a copy of a deduct call; 0 where no call was made. */
export function freshUntilMs({ lastDeductAtMs }: Redemption): number {
  return lastDeductAtMs === null ? 0 : lastDeductAtMs + FRESHNESS_WINDOW_MS;
}

/** Rule E: how the next revert identifies the deduction; undefined where only an operator can continue. */
export function revertTarget(
  redemption: Redemption,
  { capabilities }: PartnerPolicy,
): RevertTarget | undefined {
  const { partnerTransactionId, candidateTransactionIds, redemptionIdRefuted } = redemption;
  // Without this capability, a revert that leaves out the transaction id may match any deduction.
  const mayOmitId = capabilities.includes('revert-by-redemption-id') && !redemptionIdRefuted;
  if (partnerTransactionId !== null) {
    // The partner may have named the transaction of another redemption. Then it refuses the pair of ids for ever, and
    // finds the deduction by the redemption id alone.
    return redemption.firstNotFoundAtMs !== null && mayOmitId
      ? { by: 'redemption' }
      : { by: 'transaction', transactionId: partnerTransactionId };
  }
  if (mayOmitId) return { by: 'redemption' };
  const [candidate] = candidateTransactionIds;
  // Without this capability, a candidate that belongs to another redemption would give back that redemption's points.
  return capabilities.includes('refuses-mismatched-pair') && candidate !== undefined
    ? { by: 'candidate', transactionId: candidate }
    : undefined;
}

/**
 * Rule E: whether ERR-TRANSACTION-NOT-FOUND proves that nothing was deducted and nothing will be. The partner must
 * search by redemption id, must have been asked after the time at which it could accept a deduct call, and must be known
 * to refuse late deduct calls.
 */
export function provesNeverDeducted(
  redemption: Redemption,
  call: OpenCall,
  { capabilities }: PartnerPolicy,
): boolean {
  return (
    redemption.partnerTransactionId === null &&
    call.target?.by === 'redemption' &&
    call.startedAtMs > freshUntilMs(redemption) &&
    capabilities.includes('revert-by-redemption-id') &&
    (capabilities.includes('tombstones') || capabilities.includes('enforces-freshness'))
  );
}
