/**
 * What users and operators may do: in each state that is not final at least one of these does something. No command pays, none leads to
 * `claimed`, and none passes a guard by.
 */
import {
  type Decision,
  fail,
  move,
  refuse,
  type Refusal,
  resolveForgotten,
  restore,
  restored,
  type Rule,
  type TransitionContext,
} from './decision.js';
import {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  isForgetful,
  isProvenDead,
  mayRestore,
} from './guards.js';
import { partnerId } from './partner-answer.js';
import { type EventOf } from './redemption-event.js';
import { type Redemption, type RedemptionReason, type RevertReason } from './redemption.js';

const CANCELLED_BY: Readonly<Record<EventOf<'cancel'>['by'], RevertReason>> = {
  user: 'user-cancelled',
  operator: 'operator-cancelled',
  system: 'system-cancelled',
};

/** Nothing was sent yet, as far as the ledger remembers. */
export const cancelCreated: Rule<'cancel'> = (redemption, { by, because }, context) =>
  isForgetful(redemption)
    ? resolveForgotten(redemption, context, CANCELLED_BY[by])
    : fail(redemption, context, because ?? CANCELLED_BY[by]);

/** The payout was never authorised. */
export const cancelDeducted: Rule<'cancel'> = (redemption, { by }, context) =>
  restore(redemption, context, CANCELLED_BY[by]);

/** The vault is asked to cancel, and the state stays until a final block says what became of it: a wish moves no money (rule F). */
export const requestCancel: Rule<'cancel'> = (redemption, { by }, context) =>
  move(redemption, context, {
    revertReason: redemption.revertReason ?? CANCELLED_BY[by],
    nextActionAtMs: context.nowMs,
  });

export const retryByOperator: Rule<'operator-retry'> = (redemption, _event, context) => {
  const refusal = settled(redemption);
  if (refusal !== undefined) return refusal;
  return redemption.resume === 'authorised'
    ? move(redemption, context, {
        ...{ state: 'authorised', reason: 'operator-retried', resume: null },
        nextActionAtMs: context.nowMs,
      })
    : revertAfresh(redemption, context);
};

export const setTransaction: Rule<'operator-set-transaction'> = (redemption, event, context) =>
  settled(redemption) ?? onlyReverting(redemption) ?? nameTransaction(redemption, event, context);

/** Of a deduction of which no answer of ours is known: never a ground for payment (rules B and E). */
export const setTransactionUnderWay: typeof setTransaction = (redemption, event, context) =>
  underWay(redemption, context) ?? nameTransaction(redemption, event, context);

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
  settled(redemption) ??
  onlyReverting(redemption) ??
  notAgainstTheVault(redemption) ??
  restored(redemption, context, { reason: 'restored-out-of-band' });

/** Only while the partner has not said otherwise, and once no call of ours could change it any more. */
export const notDeductedOutOfBand: Rule<'operator-not-deducted'> = (redemption, _event, context) =>
  settled(redemption) ??
  onlyReverting(redemption) ??
  notAgainstTheVault(redemption) ??
  neverDeducted(redemption, context);

function neverDeducted(redemption: Redemption, context: TransitionContext): Decision {
  if (redemption.partnerTransactionId !== null) return refuse('deduction-proven');
  if (context.nowMs <= freshUntilMs(redemption)) return refuse('too-fresh');
  return fail(redemption, context, 'not-deducted-out-of-band', {
    unprovenAttempts: 0,
    exposure: 'none',
  });
}

/** Without waiting for its time. A step that is under way is not disturbed. */
export const dueNow: Rule<'operator-retry'> = (redemption, _event, context) =>
  underWay(redemption, context) ??
  move(redemption, context, { openCall: null, nextActionAtMs: context.nowMs });

export const revertAgain: Rule<'operator-retry'> = (redemption, _event, context) =>
  underWay(redemption, context) ?? revertAfresh(redemption, context);

export const restoredUnderWay: Rule<'operator-restored'> = (redemption, _event, context) =>
  underWay(redemption, context) ??
  vaultAsked(redemption) ??
  restored(redemption, context, { reason: 'restored-out-of-band' });

export const notDeductedUnderWay: Rule<'operator-not-deducted'> = (redemption, _event, context) => {
  const nothingPlanned = redemption.state === 'deducting' && !isForgetful(redemption);
  return (
    underWay(redemption, context) ??
    (nothingPlanned ? undefined : vaultAsked(redemption)) ??
    neverDeducted(redemption, context)
  );
};

/** Money that nothing here can move any more: the row stays as the proof, and no longer waits for a person. */
export const settledByHand: Rule<'operator-settled'> = (redemption, _event, context) =>
  redemption.paidEvidence === null
    ? refuse('not-contradictory')
    : move(redemption, context, { reason: 'settled-by-hand' });

/** Another round of reverts, with all of rule E's ways open again. */
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

/** A call that no worker can be waiting for any more counts as lost, as after a crash. */
function underWay({ openCall }: Redemption, { nowMs }: TransitionContext): Refusal | undefined {
  return openCall !== null && nowMs <= openCall.startedAtMs + FRESHNESS_WINDOW_MS
    ? refuse('call-open')
    : undefined;
}

/** Rule F, for what a person says of points: the row is proof that no token can move, or the vault has said so before a call. */
function vaultAsked(redemption: Redemption): Refusal | undefined {
  const { plan, firstRevertAtMs } = redemption;
  const hasSaid = plan === null && firstRevertAtMs !== null && !isForgetful(redemption);
  return hasSaid || isProvenDead(redemption) ? undefined : refuse('vault-not-asked');
}

function settled({ paidEvidence }: Redemption): Refusal | undefined {
  return paidEvidence === null ? undefined : refuse('contradictory-evidence');
}

/** Where the vault has something to say first: what a retry leads to asks it again. */
const BEFORE_THE_VAULT: readonly (RedemptionReason | null)[] = [
  'claimed-without-plan',
  'payout-unresolved',
];

/** What a person says ends it only where the vault has nothing against it. */
function notAgainstTheVault({ reason }: Redemption): Refusal | undefined {
  return BEFORE_THE_VAULT.includes(reason) ? refuse('not-restorable') : undefined;
}

/** Rule F: never from `authorised` without dead evidence. */
function onlyReverting(redemption: Redemption): Refusal | undefined {
  return redemption.resume === 'reverting' && mayRestore(redemption)
    ? undefined
    : refuse('not-restorable');
}
