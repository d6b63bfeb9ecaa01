/**
 * The commands of users and operators. In every state that is not final at least one command has an effect. No command
 * pays, leads to `claimed`, or bypasses a guard.
 */
import { partnerId } from '#libs/partner-sdk/answers';
import {
  type Decision,
  fail,
  move,
  refuse,
  type Refusal,
  revertAfterRestore,
  restore,
  restored,
  type Rule,
  type TransitionContext,
} from './decision.js';
import {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  isLedgerRestored,
  isProvenDead,
  mayRestore,
} from './guards.js';
import { type EventOf } from './redemption-event.js';
import { type Redemption, type RedemptionReason, type RevertReason } from './redemption.js';

const CANCELLED_BY: Readonly<Record<EventOf<'cancel'>['by'], RevertReason>> = {
  user: 'user-cancelled',
  operator: 'operator-cancelled',
  system: 'system-cancelled',
};

/** No call was sent, as far as the ledger knows. */
export const cancelCreated: Rule<'cancel'> = (redemption, { by, because }, context) =>
  isLedgerRestored(redemption)
    ? revertAfterRestore(redemption, context, CANCELLED_BY[by])
    : fail(redemption, context, because ?? CANCELLED_BY[by]);

/** No payout was authorised in `deducted`, so the points can be given back. */
export const cancelDeducted: Rule<'cancel'> = (redemption, { by }, context) =>
  restore(redemption, context, CANCELLED_BY[by]);

/**
 * Records the wish, and lets the worker ask the vault to cancel. The state stays until a final block shows the outcome,
 * because a wish moves no money (rule F).
 */
export const requestCancel: Rule<'cancel'> = (redemption, { by }, context) =>
  move(redemption, context, {
    revertReason: redemption.revertReason ?? CANCELLED_BY[by],
    nextActionAtMs: context.nowMs,
  });

export const retryByOperator: Rule<'operator-retry'> = (redemption, _event, context) => {
  const refusal = refuseContradiction(redemption);
  if (refusal !== undefined) return refusal;
  return redemption.resume === 'authorised'
    ? move(redemption, context, {
        ...{ state: 'authorised', reason: 'operator-retried', resume: null },
        nextActionAtMs: context.nowMs,
      })
    : revertAfresh(redemption, context);
};

export const setTransaction: Rule<'operator-set-transaction'> = (redemption, event, context) =>
  refuseContradiction(redemption) ??
  requireRevertible(redemption) ??
  nameTransaction(redemption, event, context);

/**
 * For a deduction without a known answer. The transaction id serves for a revert, and is never a ground for payment
 * (rules B and E).
 */
export const setTransactionUnderWay: typeof setTransaction = (redemption, event, context) =>
  refuseWhileCallOpen(redemption, context) ?? nameTransaction(redemption, event, context);

const nameTransaction: Rule<'operator-set-transaction'> = (redemption, event, context) => {
  if (redemption.partnerTransactionId !== null) return refuse('transaction-id-known');
  const partnerTransactionId = partnerId(event.partnerTransactionId);
  if (partnerTransactionId === undefined) return refuse('invalid-transaction-id');
  const change = { partnerTransactionId };
  return redemption.state === 'deducting'
    ? restore(redemption, context, 'deduction-unknown', change)
    : revertAfresh(redemption, context, change);
};

export const restoredOutOfBand: Rule<'operator-restored'> = (redemption, _event, context) =>
  refuseContradiction(redemption) ??
  requireRevertible(redemption) ??
  refuseBeforeVaultAsked(redemption, context) ??
  restored(redemption, context, { reason: 'restored-out-of-band' });

/** Allowed only while the partner has not confirmed the deduction, and once no deduct call can take effect any more. */
export const notDeductedOutOfBand: Rule<'operator-not-deducted'> = (redemption, _event, context) =>
  refuseContradiction(redemption) ??
  requireRevertible(redemption) ??
  refuseBeforeVaultAsked(redemption, context) ??
  neverDeducted(redemption, context);

function neverDeducted(redemption: Redemption, context: TransitionContext): Decision {
  if (redemption.partnerTransactionId !== null) return refuse('deduction-proven');
  if (context.nowMs <= freshUntilMs(redemption)) return refuse('too-fresh');
  return fail(redemption, context, 'not-deducted-out-of-band', {
    unprovenAttempts: 0,
    exposure: 'none',
  });
}

/** Makes the next step due at once. Refused while a call is open that a worker may still wait for. */
export const dueNow: Rule<'operator-retry'> = (redemption, _event, context) =>
  refuseWhileCallOpen(redemption, context) ??
  move(redemption, context, { openCall: null, nextActionAtMs: context.nowMs });

export const revertAgain: Rule<'operator-retry'> = (redemption, _event, context) =>
  refuseWhileCallOpen(redemption, context) ?? revertAfresh(redemption, context);

export const restoredUnderWay: Rule<'operator-restored'> = (redemption, _event, context) =>
  refuseWhileCallOpen(redemption, context) ??
  requireVaultStatement(redemption) ??
  restored(redemption, context, { reason: 'restored-out-of-band' });

export const notDeductedUnderWay: Rule<'operator-not-deducted'> = (redemption, _event, context) => {
  const nothingPlanned = redemption.state === 'deducting' && !isLedgerRestored(redemption);
  return (
    refuseWhileCallOpen(redemption, context) ??
    (nothingPlanned ? undefined : requireVaultStatement(redemption)) ??
    neverDeducted(redemption, context)
  );
};

/**
 * Points and tokens contradict each other, and no command can move either. The row stays as the proof, and no longer
 * waits for an operator.
 */
export const settledByHand: Rule<'operator-settled'> = (redemption, _event, context) =>
  redemption.paidEvidence === null
    ? refuse('not-contradictory')
    : move(redemption, context, { reason: 'settled-by-hand' });

/** Begins another round of reverts, with all options of rule E open again. */
function revertAfresh(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption> = {},
) {
  return move(redemption, context, {
    ...change,
    state: 'reverting',
    reason: 'operator-retried',
    resume: null,
    openCall: null,
    attempts: { ...redemption.attempts, revert: 0 },
    firstRevertAtMs: null,
    firstNotFoundAtMs: null,
    redemptionIdRefuted: false,
    nextActionAtMs: context.nowMs,
  });
}

/**
 * Refuses while a call is open. A call that is older than the freshness window counts as lost, as after a crash,
 * because no worker can wait for it any more.
 */
function refuseWhileCallOpen(
  { openCall }: Redemption,
  { nowMs }: TransitionContext,
): Refusal | undefined {
  return openCall !== null && nowMs <= openCall.startedAtMs + FRESHNESS_WINDOW_MS
    ? refuse('call-open')
    : undefined;
}

/**
 * Rule F, for an operator's statement about points. Either the row proves that no token can be paid, or a revert call
 * was made, which needs the same statement from the vault.
 */
function requireVaultStatement(redemption: Redemption): Refusal | undefined {
  const { plan, firstRevertAtMs } = redemption;
  const hasSaid = plan === null && firstRevertAtMs !== null && !isLedgerRestored(redemption);
  return hasSaid || isProvenDead(redemption) ? undefined : refuse('vault-not-asked');
}

function refuseContradiction({ paidEvidence }: Redemption): Refusal | undefined {
  return paidEvidence === null ? undefined : refuse('contradictory-evidence');
}

/**
 * Reasons of `attention` for which the vault has to be asked first. The step after an operator's retry asks it again.
 */
const VAULT_FIRST_REASONS: readonly (RedemptionReason | null)[] = [
  'claimed-without-plan',
  'payout-unresolved',
];

/** After the last time at which a lost voucher could be claimed: time for that block to be final, and read. */
const LOST_VOUCHER_MARGIN_MS = 3_600_000;

/**
 * An operator's statement about points does not end a redemption about which the vault has to be asked first, nor one
 * that a voucher which the restored ledger lacks may still pay.
 */
function refuseBeforeVaultAsked(
  redemption: Redemption,
  { nowMs }: TransitionContext,
): Refusal | undefined {
  const { reason, lostVoucherUntilSeconds } = redemption;
  if (VAULT_FIRST_REASONS.includes(reason)) return refuse('not-restorable');
  if (lostVoucherUntilSeconds === null || isProvenDead(redemption)) return undefined;
  const isPayable = nowMs <= lostVoucherUntilSeconds * 1000 + LOST_VOUCHER_MARGIN_MS;
  return isPayable ? refuse('vault-not-asked') : undefined;
}

/**
 * Rule F: no redemption is reverted from `authorised` without dead evidence. Evidence from before the note of a restore
 * counts: `refuseBeforeVaultAsked` waits for a voucher that the ledger lacks, and a revert asks the vault again.
 */
function requireRevertible(redemption: Redemption): Refusal | undefined {
  return redemption.resume === 'reverting' &&
    mayRestore({ ...redemption, lostVoucherUntilSeconds: null })
    ? undefined
    : refuse('not-restorable');
}
