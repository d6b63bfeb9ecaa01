/** What an operator may do in `attention`. No command pays, and none passes a guard by. */
import { fail, move, refuse, restored, type Rule, type TransitionContext } from './decision.js';
import { freshUntilMs, mayRestore } from './guards.js';
import { partnerId } from './partner-answer.js';
import { type Refusal } from './redemption-effect.js';
import { type Redemption, type RedemptionReason } from './redemption.js';

export const retryByOperator: Rule<'operator-retry'> = (redemption, _event, context) => {
  const refusal = settled(redemption);
  if (refusal !== undefined) return refusal;
  return redemption.resume === 'authorised'
    ? move(
        redemption,
        context,
        {
          state: 'authorised',
          reason: 'operator-retried',
          resume: null,
          nextActionAtMs: context.nowMs,
        },
        [{ kind: 'observe-payout' }, { kind: 'notify' }],
      )
    : revertAfresh(redemption, context);
};

export const setTransaction: Rule<'operator-set-transaction'> = (redemption, event, context) => {
  const refusal = settled(redemption) ?? onlyReverting(redemption);
  if (refusal !== undefined) return refusal;
  if (redemption.partnerTransactionId !== null) return refuse('transaction-id-known');
  const partnerTransactionId = partnerId(event.partnerTransactionId);
  return partnerTransactionId === undefined
    ? refuse('invalid-transaction-id')
    : revertAfresh(redemption, context, { partnerTransactionId });
};

export const restoredOutOfBand: Rule<'operator-restored'> = (redemption, _event, context) =>
  settled(redemption) ??
  onlyReverting(redemption) ??
  notAgainstTheVault(redemption) ??
  restored(redemption, context, { reason: 'restored-out-of-band' });

/** Only while the partner has not said otherwise, and once no call of ours could change it any more. */
export const notDeductedOutOfBand: Rule<'operator-not-deducted'> = (
  redemption,
  _event,
  context,
) => {
  const refusal =
    settled(redemption) ?? onlyReverting(redemption) ?? notAgainstTheVault(redemption);
  if (refusal !== undefined) return refusal;
  if (redemption.partnerTransactionId !== null) return refuse('deduction-proven');
  if (context.nowMs <= freshUntilMs(redemption)) return refuse('too-fresh');
  return fail(redemption, context, 'not-deducted-out-of-band', {
    unprovenAttempts: 0,
    exposure: 'none',
  });
};

/** Another round of reverts, with all of rule E's ways open again. */
function revertAfresh(
  redemption: Redemption,
  context: TransitionContext,
  change: Partial<Redemption> = {},
) {
  return move(
    redemption,
    context,
    {
      ...change,
      state: 'reverting',
      reason: 'operator-retried',
      resume: null,
      attempts: { ...redemption.attempts, revert: 0 },
      firstRevertAtMs: null,
      firstNotFoundAtMs: null,
      redemptionIdRefuted: false,
      nextActionAtMs: context.nowMs,
    },
    [{ kind: 'notify' }],
  );
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
