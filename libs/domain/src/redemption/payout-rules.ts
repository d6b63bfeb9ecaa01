/** From a proven deduction to tokens, or to the proof that there will be none (rules F and G). */
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
import { isForgetful, payableUntilSeconds, provesDead, provesPaid } from './guards.js';
import { type PayoutTerms } from './payout-evidence.js';
import { type PaidEvidence, type Redemption, type ResumableState } from './redemption.js';
import { nextAttemptAtMs, PAYOUT_SCHEDULE } from './schedule.js';

/** A payout of which the chain says nothing final for so long after its deadline is for a person to look at. */
export const PAYOUT_OVERDUE_MS = 24 * 3_600_000;

/** The plan is frozen here, before the signer is asked: from now on the tokens may move. */
export const authorise: Rule<'plan-committed'> = (redemption, { plan }, context) => {
  // Since the backup its points may have gone back already.
  if (isForgetful(redemption)) return refuse('ledger-restored');
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
  if (isForgetful(redemption)) return restore(redemption, context, 'payout-unavailable', change);
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
 * Until the vault says that it never pays a redemption. Only a contradiction leads to a person: a chain that cannot be asked has its own
 * alerts, and the points come back later rather than wrongly.
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

/** Rule G: the only door to `claimed`. */
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

/** Cannot happen while finality holds and the ledger is whole. If it does, no more points go back, and no command gets it out of here. */
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
 * The vault has paid what the ledger has no plan of, and no call of ours has asked for the points. Rule G, where the plan is known to be
 * forgotten: it was this one, as far as the claim tells. Elsewhere another one signs vouchers, or no operator has said that the ledger was
 * restored: a person.
 */
function claimedUnplanned(
  redemption: Redemption,
  context: TransitionContext,
  evidence: PaidEvidence,
): Decision {
  // I2: a claim stands beside a deduction that is known.
  if (!isForgetful(redemption) || redemption.partnerTransactionId === null) {
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
