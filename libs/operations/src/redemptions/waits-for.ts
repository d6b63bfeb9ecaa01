import { type RedemptionHistory } from '#libs/db';
import {
  isProvenDead,
  payableUntilSeconds,
  type Redemption,
  type RedemptionReason,
  type UuidV7,
} from '#libs/domain';
import { counted, due, moment } from '../text/text.js';

type Waiting = Partial<RedemptionHistory> & { readonly redemption: Redemption };

/** What has to happen next with a redemption, who does it, and when. */
export function waitsFor({ redemption, confirmation, lease }: Waiting, nowMs: number): string {
  const { state, nextActionAtMs } = redemption;
  if (state === 'attention') {
    const who = redemption.reason === 'settled-by-hand' ? '' : 'a person. ';
    return who + attentionAdvice(redemption);
  }
  if (nextActionAtMs === null) return confirmationText(confirmation, nowMs);
  const worker = lease ? `, being worked at by ${lease.owner}` : '';
  return `${stepOf(redemption)}, due ${due(nextActionAtMs, nowMs)}${worker}`;
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
      return `a payout plan (${counted(attempts.payout, 'attempt')} so far)`;
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
        nextActionAt === null ? '' : `, the next due ${due(nextActionAt.getTime(), nowMs)}`;
      return `nothing but the partner to take the confirmation (${counted(attempts, 'attempt')} so far${next})`;
    }
    case 'undelivered':
      return 'nothing; the confirmation was never taken: `redemption replay-confirm` sends it again';
    case 'delivered':
    case undefined:
      return 'nothing: it is finished';
  }
}

type AttentionReason = Extract<
  RedemptionReason,
  | 'transaction-id-reused'
  | 'deduction-unresolved'
  | 'transaction-not-found'
  | 'amount-disputed'
  | 'revert-exhausted'
  | 'payout-unresolved'
  | 'paid-after-dead'
  | 'claimed-without-plan'
  | 'evidence-invalid'
  | 'settled-by-hand'
>;

const ASK_BY_ID =
  'Ask the partner what its books say of the redemption id. Deducted: `redemption set-partner-tx ID TRANSACTION` with its transaction id. Never deducted: `redemption resolve ID --not-deducted`. Given back by hand: `redemption resolve ID --restored-out-of-band`.';

export const ATTENTION: Readonly<Record<AttentionReason, string>> = {
  'deduction-unresolved': `Whether points were deducted is unknown, and no call is left that could find out. ${ASK_BY_ID}`,
  'transaction-id-reused': `The partner named a transaction of another redemption as this one's. ${ASK_BY_ID}`,
  'transaction-not-found':
    'The partner confirmed the deduction and now does not find it. It must give the points back, then `redemption resolve ID --restored-out-of-band`; or mend its search, then `redemption retry ID`.',
  'amount-disputed':
    'The partner says that another number of points was deducted. Agree on the number; points given back by hand: `redemption resolve ID --restored-out-of-band`; partner mended: `redemption retry ID`.',
  'revert-exhausted':
    'The partner did not take the points back for 7 days. Once it answers again: `redemption retry ID`; points given back by hand: `redemption resolve ID --restored-out-of-band`; never deducted: `redemption resolve ID --not-deducted`.',
  'payout-unresolved':
    'The chain has not said for a day what became of the voucher, or contradicts itself. Look at the nodes and at the vault, then `redemption retry ID`. Nothing else: the tokens may still have moved.',
  'paid-after-dead':
    'The chain took back what was final: the tokens were paid although the points were on their way back. No command moves either any more. Pause the partner, halt payouts, settle with the partner by hand, then `redemption resolve ID --settled-by-hand NOTE`.',
  'settled-by-hand':
    'nothing: it was settled with the partner by hand, and the row stays as the proof. The note is in redemption.audit.',
  'claimed-without-plan':
    'The vault has paid this redemption, and the ledger has no plan of it. The points stay taken. Was the ledger restored from a backup: `ledger restored`, then `redemption retry ID`; is the deduction not known: ask the partner, then `redemption set-partner-tx ID TRANSACTION`. Otherwise somebody else signs vouchers: pause the vault, revoke SIGNER_ROLE.',
  'evidence-invalid':
    'The row was not written by the service, or was altered since: nothing is paid by it. Written before the service had EVIDENCE_KEY, or by one with another key: `redemption retry ID` gives the points back. Otherwise another program or person writes to the database: pause redemptions, replace the credentials (docs/operating/keys.md), and ask the partner what its books say before anything else.',
};

interface Stopped {
  readonly id: UuidV7;
  readonly reason: RedemptionReason | null;
}

/** Advice for a redemption in `attention`, with its id filled in; general advice where the reason is not known. */
export function attentionAdvice({ id, reason }: Stopped): string {
  const advice: string | undefined = reason === null ? undefined : texts[reason];
  return (advice ?? 'Look at the timeline and the calls.').replaceAll(' ID', ` ${id}`);
}

const texts: Readonly<Partial<Record<RedemptionReason, string>>> = ATTENTION;
