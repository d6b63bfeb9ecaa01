/** The guards that keep points and tokens from both going, or both staying (rules D to G). Each is one function, used wherever it applies. */
import { type Address } from '../chain/address.js';
import { type PartnerPolicy } from './partner-call.js';
import {
  type DeadEvidence,
  type OpenCall,
  type PaidEvidence,
  type Redemption,
  type RevertTarget,
} from './redemption.js';

/**
 * A receiver refuses a call whose `X-API-REQUEST` is more than 300 s from its clock; a clock that accepts our calls at all is at most
 * 300 s behind ours. So this long after a call was minted, no copy of it does anything at a partner that enforces freshness.
 */
export const FRESHNESS_WINDOW_MS = 600_000;

/** The ledger was restored from a backup after it was made: calls, a plan, a voucher and its claim may be forgotten. */
export function isForgetful({ lostVoucherUntilSeconds }: Redemption): boolean {
  return lostVoucherUntilSeconds !== null;
}

/** Unix seconds: the latest block that may still pay it, by its plan or by what a restored ledger has forgotten. 0 where there is neither. */
export function payableUntilSeconds({
  plan,
  lostVoucherUntilSeconds,
}: Pick<Redemption, 'plan' | 'lostVoucherUntilSeconds'>): number {
  return Math.max(plan?.deadlineSeconds ?? 0, lostVoucherUntilSeconds ?? 0);
}

/** Rule F, for evidence that is offered: a final block shows that the vault can never pay this redemption. */
export function provesDead(redemption: Redemption, evidence: DeadEvidence): boolean {
  switch (evidence.reason) {
    case 'expired':
      // A block of exactly the deadline still pays.
      return evidence.finalised.timestampSeconds > payableUntilSeconds(redemption);
    case 'cancelled':
      return evidence.block.number <= evidence.finalised.number;
  }
}

/** Rule G: a final block holds the claim of exactly this plan. */
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

/** Rule F, for a redemption that has a plan: the evidence in its row is enough. */
export function isProvenDead(redemption: Redemption): boolean {
  const { plan, deadEvidence } = redemption;
  return plan !== null && deadEvidence !== null && provesDead(redemption, deadEvidence);
}

/** Rule F, for a redemption: its points may go back. Timers, users, operators and every single revert call pass here. */
export function mayRestore(redemption: Redemption): boolean {
  if (redemption.paidEvidence !== null) return false;
  return redemption.plan === null || isProvenDead(redemption);
}

/**
 * Rule F, before each call that gives points back: the vault must have said so just now. A row is no proof, as a stolen credential of the
 * ledger can write one. What a restored ledger has forgotten is proven dead by the latest deadline that it can have.
 */
export function provesNeverPaid(
  redemption: Redemption,
  evidence: DeadEvidence | undefined,
): boolean {
  return evidence !== undefined && provesDead(redemption, evidence);
}

/** Rule D: no call is left that may have deducted without our knowing; in a restored ledger, calls may have been forgotten. */
export function nothingUnproven({
  unprovenAttempts,
  lostVoucherUntilSeconds,
}: Redemption): boolean {
  return unprovenAttempts === 0 && lostVoucherUntilSeconds === null;
}

/** From when on no copy of a deduct call is young enough to be accepted. */
export function freshUntilMs({ lastDeductAtMs }: Redemption): number {
  return lastDeductAtMs === null ? 0 : lastDeductAtMs + FRESHNESS_WINDOW_MS;
}

/** Rule E: how a revert is to name the deduction, or undefined where no way is left but a person. */
export function revertTarget(
  redemption: Redemption,
  { capabilities }: PartnerPolicy,
): RevertTarget | undefined {
  const { partnerTransactionId, candidateTransactionIds, redemptionIdRefuted } = redemption;
  // Elsewhere, an id that is left out may match any deduction.
  const mayOmitId = capabilities.includes('revert-by-redemption-id') && !redemptionIdRefuted;
  if (partnerTransactionId !== null) {
    // The partner may have named another redemption's transaction: then it refuses the pair for ever, and finds the redemption alone.
    return redemption.firstNotFoundAtMs !== null && mayOmitId
      ? { by: 'redemption' }
      : { by: 'transaction', transactionId: partnerTransactionId };
  }
  if (mayOmitId) return { by: 'redemption' };
  const [candidate] = candidateTransactionIds;
  // Elsewhere, a candidate of another redemption would give that one's points back.
  return capabilities.includes('refuses-mismatched-pair') && candidate !== undefined
    ? { by: 'candidate', transactionId: candidate }
    : undefined;
}

/**
 * Rule E: ERR-TRANSACTION-NOT-FOUND proves that nothing was deducted and nothing will be. Only where the partner searches by redemption
 * id, said so under its signature, was asked when no deduct call could be accepted any more, and is known to refuse late ones.
 */
export function provesNeverDeducted(
  redemption: Redemption,
  answer: { readonly call: OpenCall; readonly signed: boolean },
  { capabilities }: PartnerPolicy,
): boolean {
  return (
    redemption.partnerTransactionId === null &&
    answer.signed &&
    answer.call.target?.by === 'redemption' &&
    answer.call.startedAtMs > freshUntilMs(redemption) &&
    capabilities.includes('revert-by-redemption-id') &&
    (capabilities.includes('tombstones') || capabilities.includes('enforces-freshness'))
  );
}
