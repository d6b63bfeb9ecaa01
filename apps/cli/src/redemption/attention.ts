/** What each reason to stop means, and which command settles it. docs/operating/redemption.md says the same at length. */
import { type Redemption, type RedemptionReason } from '#libs/domain';

export type AttentionReason = Extract<
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
    'Nothing: it was settled with the partner by hand, and the row stays as the proof. The note is in redemption.audit.',
  'claimed-without-plan':
    'The vault has paid this redemption, and the ledger has no plan of it. The points stay taken. Was the ledger restored from a backup: `ledger restored`, then `redemption retry ID`; is the deduction not known: ask the partner, then `redemption set-partner-tx ID TRANSACTION`. Otherwise somebody else signs vouchers: pause the vault, revoke SIGNER_ROLE.',
  'evidence-invalid':
    'The row was not written by the service, or was altered since: nothing is paid by it. Written before the service had EVIDENCE_KEY, or by one with another key: `redemption retry ID` gives the points back. Otherwise another program or person writes to the database: pause redemptions, replace the credentials (docs/operating/keys.md), and ask the partner what its books say before anything else.',
};

/** For a redemption in `attention`, with its id in place; a text that says so where the reason is not known. */
export function attentionAdvice({ id, reason }: Pick<Redemption, 'id' | 'reason'>): string {
  const advice: string | undefined = reason === null ? undefined : texts[reason];
  return (advice ?? 'Look at the timeline and the calls.').replaceAll(' ID', ` ${id}`);
}

const texts: Readonly<Partial<Record<RedemptionReason, string>>> = ATTENTION;
