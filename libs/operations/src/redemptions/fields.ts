/** The fields of a redemption by name, in words for a terminal or a page. */
import { decimalText, type RedemptionHistory } from '#libs/db';
import { type PayoutEvidence, publicStatus, type Redemption } from '#libs/domain';
import { duration, moment, tokensText } from '../text/text.js';
import { type LiveEvidence } from './chain-evidence.js';
import { type ShownRedemption } from './find.js';
import { waitsFor } from './waits-for.js';

/** A name and its value. A field without a value is not shown. */
export type ShownField = readonly [name: string, value: string | undefined];

export function standingFields(
  { history, partnerName }: ShownRedemption,
  nowMs: number,
): ShownField[] {
  const { redemption, lease } = history;
  const { state, reason, resume, points } = redemption;
  const since = `for ${duration(nowMs - redemption.stateSinceMs)}`;
  const target = redemption.candidateTransactionIds;
  return [
    ['redemption', redemption.id],
    ['state', `${state} (${publicStatus(state)} to the user), ${since}`],
    ['reason', reason ?? undefined],
    ['goes on in', resume ?? undefined],
    ['waits for', waitsFor(history, nowMs)],
    ['lease', lease === null ? 'free' : `${lease.owner} until ${moment(lease.until) ?? ''}`],
    ['partner', `${partnerName} (${redemption.partner})`],
    ['wallet', redemption.wallet],
    [
      'amounts',
      `${points.toString()} points = ${decimalText(redemption.usdAmount)} USD = ${tokensText(redemption)} tokens`,
    ],
    [
      'price',
      `${decimalText(redemption.priceUsd)} USD a token, until ${moment(redemption.quoteExpiresAtMs) ?? ''}`,
    ],
    ['version', String(redemption.version)],
    ['deduction', deductionText(redemption)],
    ['partner transaction', redemption.partnerTransactionId ?? 'not known'],
    ['candidates', target.length === 0 ? undefined : `${target.join(', ')} (unverified)`],
    ['partner revert', redemption.partnerRevertId ?? undefined],
    ['reverted because', redemption.revertReason ?? undefined],
  ];
}

/** What is known of the deduction, in words for an operator. */
function deductionText({
  state,
  exposure,
  partnerTransactionId,
  unprovenAttempts,
  openCall,
}: Redemption): string {
  if (state === 'reverted') return 'given back';
  if (partnerTransactionId !== null) return 'confirmed by the partner; the points are taken';
  if (exposure === 'none') return 'none: no call could have deducted';
  const ended = unprovenAttempts - (openCall?.step === 'deduct' ? 1 : 0);
  const open = ended === unprovenAttempts ? '' : ', one is under way';
  return `possible: ${ended} deduct calls ended without a proof${open}`;
}

/** @param live what the chain says now, where the chain was asked */
export function payoutFields(
  { redemption, place }: RedemptionHistory,
  live?: LiveEvidence,
): ShownField[] {
  const { plan, paidEvidence, deadEvidence, lostVoucherUntilSeconds: lost } = redemption;
  return [
    ['recipient', plan?.recipient],
    ['amount', plan === null ? undefined : `${plan.amount.toString()} in the smallest unit`],
    ['deadline', plan === null ? undefined : moment(plan.deadlineSeconds * 1000)],
    ['vault', place === null ? undefined : `${place.vault} on chain ${place.chainId}`],
    [
      'lost voucher',
      lost === null ? undefined : `may be claimed until ${moment(lost * 1000) ?? ''}`,
    ],
    ['stored as paid', paidEvidence === null ? undefined : evidenceText(paidEvidence)],
    ['stored as dead', deadEvidence === null ? undefined : evidenceText(deadEvidence)],
    ['the chain now', live && liveText(live)],
  ];
}

export function liveText(live: LiveEvidence): string {
  return live.asked ? evidenceText(live.evidence) : `not asked: ${live.why}`;
}

function evidenceText(evidence: PayoutEvidence): string {
  switch (evidence.outcome) {
    case 'paid':
      return `paid in ${evidence.transactionHash}, block ${evidence.block.number.toString()}, ${final(evidence)}`;
    case 'dead':
      return evidence.reason === 'expired'
        ? `dead: expired unclaimed, ${final(evidence)}`
        : `dead: cancelled in ${evidence.transactionHash}, ${final(evidence)}`;
    case 'live':
      return `live: neither paid nor dead in a final block${evidence.doubt ? `; ${evidence.doubt.kind}: ${evidence.doubt.text}` : ''}`;
  }
}

function final({ finalised }: Extract<PayoutEvidence, { finalised: unknown }>): string {
  const at = moment(finalised.timestampSeconds * 1000) ?? '';
  return `by final block ${finalised.number.toString()} of ${at}`;
}
