/**
 * What follows for a redemption when the ledger was restored from a backup after it was made. Whatever happened since the backup is
 * forgotten: calls that deducted or gave back, a plan, a voucher, its claim. So nothing is begun again and nothing is planned again; it ends
 * by what the vault and the partner know (docs/operating/backup.md).
 */
import {
  confirmed,
  type Decision,
  holdForAttention,
  move,
  restore,
  type TransitionContext,
} from './decision.js';
import { type PaidEvidence, type Redemption, type RevertReason } from './redemption.js';

export function isForgetful({
  lostVoucherUntilSeconds,
}: Pick<Redemption, 'lostVoucherUntilSeconds'>): boolean {
  return lostVoucherUntilSeconds !== null;
}

/** Rules D and E, as for a call of which nothing is known: resolved by reverting, never by paying. */
export function resolveForgotten(
  redemption: Redemption,
  context: TransitionContext,
  reason: RevertReason,
): Decision {
  const { nowMs } = context;
  return restore(redemption, context, reason, {
    exposure: 'possible',
    unprovenAttempts: Math.max(1, redemption.unprovenAttempts),
    lastDeductAtMs: nowMs,
    pendingAtMs: redemption.pendingAtMs ?? nowMs,
  });
}

/**
 * The vault has paid what the ledger has no plan of, and no call of ours has asked for the points. Rule G, where the plan is known to be
 * forgotten: it was this one, as far as the claim tells. Elsewhere somebody else signs vouchers, or nobody has said that the ledger was
 * restored: a person.
 */
export function claimedUnplanned(
  redemption: Redemption,
  context: TransitionContext,
  evidence: PaidEvidence,
): Decision {
  // I2: a claim stands beside a deduction that is known.
  if (!isForgetful(redemption) || redemption.partnerTransactionId === null) {
    return holdForAttention(redemption, context, {
      reason: 'claimed-without-plan',
      resume: 'reverting',
    });
  }
  const { recipient, amount, block } = evidence;
  const { timestampSeconds } = block;
  return confirmed(
    move(redemption, context, {
      state: 'claimed',
      reason: null,
      revertReason: null,
      openCall: null,
      plan: { recipient, amount, deadlineSeconds: timestampSeconds },
      paidEvidence: evidence,
      deductedAtMs: redemption.deductedAtMs ?? context.nowMs,
      authorisedAtMs: context.nowMs,
      claimedAtMs: timestampSeconds * 1000,
      nextActionAtMs: null,
    }),
    context,
  );
}
