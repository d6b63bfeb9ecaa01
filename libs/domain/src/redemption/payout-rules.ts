/** From a proven deduction to tokens, or to the proof that there will be none (rules F and G). */
import {
  confirmed,
  holdForAttention,
  move,
  refuse,
  restore,
  type Rule,
  type TransitionContext,
} from './decision.js';
import { payableUntilSeconds, provesDead, provesPaid } from './guards.js';
import { type PayoutTerms } from './payout-evidence.js';
import { type RedemptionEffect } from './redemption-effect.js';
import { type Redemption } from './redemption.js';
import { claimedUnplanned, isForgetful } from './restored-ledger.js';
import { nextAttemptAtMs, PAYOUT_SCHEDULE } from './schedule.js';

/** A payout of which the chain says nothing final for so long after its deadline is for a person to look at. */
export const PAYOUT_OVERDUE_MS = 24 * 3_600_000;

const CONTRADICTION: RedemptionEffect = {
  kind: 'alert',
  severity: 'critical',
  code: 'contradiction',
};

/** The plan is frozen here, before the signer is asked: from now on the tokens may move. */
export const authorise: Rule<'plan-committed'> = (redemption, { plan }, context) => {
  // Since the backup its points may have gone back already.
  if (isForgetful(redemption)) return refuse('ledger-restored');
  return isPlanOf(redemption, plan, context)
    ? move(
        redemption,
        context,
        {
          state: 'authorised',
          reason: null,
          plan,
          authorisedAtMs: context.nowMs,
          nextActionAtMs: context.nowMs,
        },
        [{ kind: 'authorise-payout', plan }, { kind: 'observe-payout' }, { kind: 'notify' }],
      )
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

export const watchOn: Rule<'payout-live'> = (redemption, event, context) => {
  const { stateSinceMs } = redemption;
  const doubt = event.contradiction === undefined ? [] : [CONTRADICTION];
  const sinceMs = Math.max(payableUntilSeconds(redemption) * 1000, stateSinceMs);
  const moved =
    context.nowMs > sinceMs + PAYOUT_OVERDUE_MS
      ? holdForAttention(redemption, context, {
          reason: 'payout-unresolved',
          resume: 'authorised',
        })
      : move(redemption, context, {
          nextActionAtMs: context.nowMs + Math.max(1, Math.ceil(event.recheckMs)),
        });
  return { ...moved, effects: [...doubt, ...moved.effects] };
};

/** Rule G: the only door to `claimed`. */
export const paid: Rule<'payout-paid'> = (redemption, event, context) => {
  const { plan, id } = redemption;
  const { evidence, redemptionId } = event;
  if (plan === null || redemptionId !== id || !provesPaid(plan, evidence)) {
    return refuse('no-evidence');
  }
  return confirmed(
    move(redemption, context, {
      state: 'claimed',
      reason: null,
      revertReason: null,
      paidEvidence: evidence,
      claimedAtMs: evidence.block.timestampSeconds * 1000,
      nextActionAtMs: null,
    }),
    context,
  );
};

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
 * Until the vault says that it never pays a redemption. Only a contradiction leads to a person: a chain that cannot be asked has its own
 * alerts, and the points come back later rather than wrongly.
 */
export const awaitVault: Rule<'payout-live'> = (redemption, event, context) => {
  const { openCall, stateSinceMs } = redemption;
  if (openCall !== null) return refuse('call-open');
  const nextActionAtMs = context.nowMs + Math.max(1, Math.ceil(event.recheckMs));
  if (event.contradiction === undefined) return move(redemption, context, { nextActionAtMs });
  const sinceMs = Math.max(payableUntilSeconds(redemption) * 1000, stateSinceMs);
  const moved =
    context.nowMs > sinceMs + PAYOUT_OVERDUE_MS
      ? holdForAttention(redemption, context, { reason: 'payout-unresolved', resume: 'reverting' })
      : move(redemption, context, { nextActionAtMs });
  return { ...moved, effects: [CONTRADICTION, ...moved.effects] };
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
