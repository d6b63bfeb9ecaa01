import { isProvenDead, payableUntilSeconds, type Redemption } from '#libs/domain';
import { type RedemptionHistory } from '#libs/db';
import { fromNow, moment } from '../output/text.js';
import { attentionAdvice } from './attention.js';

type Waiting = Pick<RedemptionHistory, 'redemption'> &
  Partial<Pick<RedemptionHistory, 'confirmation' | 'lease'>>;

/** What has to happen next, by whom, and when. */
export function waitsFor({ redemption, confirmation, lease }: Waiting, nowMs: number): string {
  const { state, nextActionAtMs } = redemption;
  if (state === 'attention') {
    const who = redemption.reason === 'settled-by-hand' ? '' : 'a person. ';
    return who + attentionAdvice(redemption);
  }
  if (nextActionAtMs === null) return confirmationText(confirmation, nowMs);
  const worker = lease ? `, being worked at by ${lease.owner}` : '';
  return `${stepOf(redemption)}, due ${fromNow(nextActionAtMs, nowMs)}${worker}`;
}

function stepOf(redemption: Redemption): string {
  const { state, openCall, attempts, revertReason } = redemption;
  if (openCall !== null) {
    return `the outcome of ${openCall.step} call ${openCall.requestId}, begun ${moment(openCall.startedAtMs) ?? ''}`;
  }
  switch (state) {
    case 'created':
      return 'the service to start it';
    case 'deducting':
      return `deduct call ${attempts.deduct + 1}`;
    case 'deducted':
      return `a payout plan (${attempts.payout} attempts so far)`;
    case 'authorised':
      return payoutText(payableUntilSeconds(redemption), revertReason !== null);
    case 'reverting':
      return redemption.lostVoucherUntilSeconds !== null && !isProvenDead(redemption)
        ? `the vaults: a claim, or a final block after ${moment(payableUntilSeconds(redemption) * 1000) ?? ''}; then revert call ${attempts.revert + 1}`
        : `revert call ${attempts.revert + 1}`;
    case 'attention':
    case 'claimed':
    case 'reverted':
    case 'failed':
      return 'nothing';
  }
}

function payoutText(deadlineSeconds: number, isCancelling: boolean): string {
  const deadline = moment(deadlineSeconds * 1000) ?? '';
  return isCancelling
    ? `the chain: the cancellation, a claim that came first, or a final block after ${deadline}`
    : `the chain: the claim, or a final block after ${deadline}`;
}

function confirmationText(
  confirmation: RedemptionHistory['confirmation'] | undefined,
  nowMs: number,
): string {
  switch (confirmation?.state) {
    case 'pending': {
      const { attempts, nextActionAt } = confirmation;
      const next =
        nextActionAt === null ? '' : `, the next due ${fromNow(nextActionAt.getTime(), nowMs)}`;
      return `nothing but the partner to take the confirmation (${attempts} attempts so far${next})`;
    }
    case 'undelivered':
      return 'nothing; the confirmation was never taken: `redemption replay-confirm` sends it again';
    case 'delivered':
    case undefined:
      return 'nothing: it is finished';
  }
}
