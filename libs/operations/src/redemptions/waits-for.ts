import { type RedemptionHistory } from '#libs/db';
import {
  isProvenDead,
  payableUntilSeconds,
  type Redemption,
  type RedemptionReason,
  type UuidV7,
} from '#libs/domain';
import { type ActionWords, asCommand } from '../text/action-words.js';
import { counted, due, moment } from '../text/text.js';
import { type ActionName } from './actions.js';

type Waiting = Partial<RedemptionHistory> & { readonly redemption: Redemption };

/** What has to happen next with a redemption, who does it, and when. */
export function waitsFor(
  { redemption, confirmation, lease }: Waiting,
  nowMs: number,
  words = asCommand,
): string {
  const { state, nextActionAtMs } = redemption;
  if (state === 'attention') {
    const who = redemption.reason === 'settled-by-hand' ? '' : 'an operator. ';
    return who + attentionAdvice(redemption, words);
  }
  if (nextActionAtMs === null) return confirmationText(confirmation, nowMs, words);
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
  words: ActionWords,
): string {
  switch (confirmation?.state) {
    case 'pending': {
      const { attempts, nextActionAt } = confirmation;
      const next =
        nextActionAt === null ? '' : `, the next due ${due(nextActionAt.getTime(), nowMs)}`;
      return `nothing but the partner to take the confirmation (${counted(attempts, 'attempt')} so far${next})`;
    }
    case 'undelivered':
      return `nothing; the confirmation was never taken: ${words('replay-confirm')} sends it again`;
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

/** @param say names an action */
type Advice = (say: (action: ActionName) => string) => string;

const askById: Advice = (say) =>
  `Ask the partner what its books say of the redemption id. Deducted: ${say('set-partner-tx')} with its transaction id. Never deducted: ${say('not-deducted')}. Given back by hand: ${say('restored-out-of-band')}.`;

export const ATTENTION: Readonly<Record<AttentionReason, Advice>> = {
  'deduction-unresolved': (say) =>
    `Whether points were deducted is unknown, and no call is left that could find out. ${askById(say)}`,
  'transaction-id-reused': (say) =>
    `The partner named a transaction of another redemption as this one's. ${askById(say)}`,
  'transaction-not-found': (say) =>
    `The partner confirmed the deduction and now does not find it. It must give the points back, then ${say('restored-out-of-band')}; or mend its search, then ${say('retry')}.`,
  'amount-disputed': (say) =>
    `The partner says that another number of points was deducted. Agree on the number; points given back by hand: ${say('restored-out-of-band')}; partner mended: ${say('retry')}.`,
  'revert-exhausted': (say) =>
    `The partner did not take the points back for 7 days. Once it answers again: ${say('retry')}; points given back by hand: ${say('restored-out-of-band')}; never deducted: ${say('not-deducted')}.`,
  'payout-unresolved': (say) =>
    `The chain has not said for a day what became of the voucher, or contradicts itself. Look at the nodes and at the vault, then ${say('retry')}. Nothing else: the tokens may still have moved.`,
  'paid-after-dead': (say) =>
    `The chain took back what was final: the tokens were paid although the points were on their way back. No command can move either of them now. Pause the partner, halt payouts, settle with the partner by hand, then ${say('settled-by-hand')}.`,
  'settled-by-hand': () =>
    'nothing: it was settled with the partner by hand, and the row stays as the proof. The note is in redemption.audit.',
  'claimed-without-plan': (say) =>
    `The vault has paid this redemption, and the ledger has no plan of it. The points stay taken. Was the ledger restored from a backup: \`ledger restored\`, then ${say('retry')}; is the deduction not known: ask the partner, then ${say('set-partner-tx')}. Otherwise someone else signs vouchers: pause the vault, revoke SIGNER_ROLE.`,
  'evidence-invalid': (say) =>
    `The row was not written by the service, or was altered since: nothing is paid by it. Written before the service had EVIDENCE_KEY, or by one with another key: ${say('retry')} gives the points back. Otherwise another program or person writes to the database: pause redemptions, replace the credentials (docs/operating/keys.md), and ask the partner what its books say before anything else.`,
};

interface Stopped {
  readonly id: UuidV7;
  readonly reason: RedemptionReason | null;
}

/** Advice for a redemption in `attention`; general advice where the reason is not known. */
export function attentionAdvice({ id, reason }: Stopped, words = asCommand): string {
  return (
    adviceFor(reason)?.((action) => words(action, id)) ?? 'Look at the timeline and the calls.'
  );
}

/** The actions that the advice names. */
export function advisedActions({ reason }: Pick<Stopped, 'reason'>): ReadonlySet<ActionName> {
  const named = new Set<ActionName>();
  adviceFor(reason)?.((action) => {
    named.add(action);
    return '';
  });
  return named;
}

function adviceFor(reason: RedemptionReason | null): Advice | undefined {
  const all: Readonly<Partial<Record<RedemptionReason, Advice>>> = ATTENTION;
  return reason === null ? undefined : all[reason];
}
