/** From a proven deduction to paid tokens, or to the proof that they are never paid (rules F and G). */
import {
  confirmed,
  type Decision,
  holdForAttention,
  move,
  refuse,
  restore,
  type Rule,
  type TransitionContext,
} from './decision.js';
import { isLedgerRestored, payableUntilSeconds, provesDead, provesPaid } from './guards.js';
import { type PayoutTerms } from './payout-evidence.js';
import { type PaidEvidence, type Redemption, type ResumableState } from './redemption.js';
import { nextAttemptAtMs, PAYOUT_SCHEDULE } from './schedule.js';

/** Milliseconds after its deadline at which a payout without final evidence is handed to an operator. */
export const PAYOUT_OVERDUE_MS = 24 * 3_600_000;

/** Freezes the plan before the signer is asked. From here on the tokens may be paid. */
export const authorise: Rule<'plan-committed'> = (redemption, { plan }, context) => {
  // The points may have been given back after the backup.
  if (isLedgerRestored(redemption)) return refuse('ledger-restored');
  const { nowMs } = context;
  return isPlanOf(redemption, plan, context)
    ? move(redemption, context, {
        ...{ state: 'authorised', reason: null, plan },
        ...{ authorisedAtMs: nowMs, nextActionAtMs: nowMs },
      })
    : refuse('invalid-plan');
};

function isPlanOf(
  { wallet, tokenAmount, plan: committed }: Redemption,
  plan: PayoutTerms,
  { nowMs }: TransitionContext,
): boolean {
  return (
    committed === null &&
    plan.recipient === wallet &&
    plan.amount === tokenAmount &&
    Number.isSafeInteger(plan.deadlineSeconds) &&
    plan.deadlineSeconds * 1000 > nowMs
  );
}

export const planLater: Rule<'plan-failed'> = (redemption, _event, context) => {
  const { attempts, deductedAtMs } = redemption;
  const { nowMs, jitter } = context;
  const change = { attempts: { ...attempts, payout: attempts.payout + 1 } };
  if (isLedgerRestored(redemption))
    return restore(redemption, context, 'payout-unavailable', change);
  const nextActionAtMs = nextAttemptAtMs(PAYOUT_SCHEDULE, {
    attempts: change.attempts.payout,
    firstAttemptAtMs: deductedAtMs ?? nowMs,
    nowMs,
    jitter,
  });
  return nextActionAtMs === undefined
    ? restore(redemption, context, 'payout-unavailable', change)
    : move(redemption, context, { ...change, nextActionAtMs });
};

export const watchOn: Rule<'payout-live'> = (redemption, event, context) =>
  isOverdue(redemption, context)
    ? holdUnresolved(redemption, context, 'authorised')
    : move(redemption, context, { nextActionAtMs: recheckAtMs(event, context) });

/**
 * Waits until the vault states that it never pays the redemption. Only a contradiction hands the redemption to an
 * operator: a chain that does not answer has its own alerts, and points that come back late are better than points that
 * come back wrongly.
 */
export const awaitVault: Rule<'payout-live'> = (redemption, event, context) => {
  if (redemption.openCall !== null) return refuse('call-open');
  return event.contradiction !== undefined && isOverdue(redemption, context)
    ? holdUnresolved(redemption, context, 'reverting')
    : move(redemption, context, { nextActionAtMs: recheckAtMs(event, context) });
};

function isOverdue(redemption: Redemption, { nowMs }: TransitionContext): boolean {
  const sinceMs = Math.max(payableUntilSeconds(redemption) * 1000, redemption.stateSinceMs);
  return nowMs > sinceMs + PAYOUT_OVERDUE_MS;
}

function holdUnresolved(
  redemption: Redemption,
  context: TransitionContext,
  resume: ResumableState,
): Decision {
  return holdForAttention(redemption, context, { reason: 'payout-unresolved', resume });
}

function recheckAtMs(
  { recheckMs }: { readonly recheckMs: number },
  { nowMs }: TransitionContext,
): number {
  return nowMs + Math.max(1, Math.ceil(recheckMs));
}

/** Rule G: the way from `authorised` to `claimed`. */
export const paid: Rule<'payout-paid'> = (redemption, event, context) => {
  const { plan, id } = redemption;
  const { evidence, redemptionId } = event;
  if (plan === null || redemptionId !== id || !provesPaid(plan, evidence)) {
    return refuse('no-evidence');
  }
  return claimed(redemption, context, evidence);
};

function claimed(
  redemption: Redemption,
  context: TransitionContext,
  evidence: PaidEvidence,
  change: Partial<Redemption> = {},
): Decision {
  return confirmed(redemption, context, {
    ...change,
    state: 'claimed',
    reason: null,
    revertReason: null,
    paidEvidence: evidence,
    claimedAtMs: evidence.block.timestampSeconds * 1000,
  });
}

export const dead: Rule<'payout-dead'> = (redemption, event, context) => {
  const { plan, id } = redemption;
  const { evidence, redemptionId } = event;
  if (plan === null || redemptionId !== id || !provesDead(redemption, evidence)) {
    return refuse('no-evidence');
  }
  return restore(redemption, context, redemption.revertReason ?? 'claim-timeout', {
    deadEvidence: evidence,
  });
};

/**
 * The vault paid a redemption in `reverting`, which cannot happen while finality holds and the ledger is complete.
 * Unless only the plan is missing (`claimedUnplanned`), no more points are given back and no command leads out of
 * `attention`.
 */
export const paidAfterDead: Rule<'payout-paid'> = (redemption, event, context) => {
  const { plan, id, wallet: recipient, tokenAmount: amount, attempts } = redemption;
  const { evidence, redemptionId } = event;
  if (redemptionId !== id || !provesPaid(plan ?? { recipient, amount }, evidence)) {
    return refuse('no-evidence');
  }
  return plan === null && attempts.revert === 0
    ? claimedUnplanned(redemption, context, evidence)
    : holdForAttention(
        redemption,
        context,
        { reason: 'paid-after-dead', resume: 'reverting' },
        { paidEvidence: evidence },
      );
};

/**
 * The vault paid a redemption of which the ledger has no plan, and no revert call was made. In a ledger that is known
 * to be restored the plan was lost: rule G applies, with a plan that is taken from the claim. Otherwise another party
 * signs vouchers, or no operator has recorded the restore yet, and an operator has to decide.
 */
function claimedUnplanned(
  redemption: Redemption,
  context: TransitionContext,
  evidence: PaidEvidence,
): Decision {
  // Invariant I2: a claimed redemption has a known deduction.
  if (!isLedgerRestored(redemption) || redemption.partnerTransactionId === null) {
    const why = { reason: 'claimed-without-plan', resume: 'reverting' } as const;
    return holdForAttention(redemption, context, why);
  }
  const { recipient, amount, block } = evidence;
  return claimed(redemption, context, evidence, {
    plan: { recipient, amount, deadlineSeconds: block.timestampSeconds },
    deductedAtMs: redemption.deductedAtMs ?? context.nowMs,
    authorisedAtMs: context.nowMs,
  });
}
