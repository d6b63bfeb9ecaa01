/** What a row's MAC is made over: all that a voucher rests on. */
import { type Address } from '../chain/address.js';
import { canonicalJson } from '../signing/canonical-json.js';
import { type Redemption } from './redemption.js';

/** Where a plan is good. */
export interface EvidencePlace {
  readonly vault: Address;
  readonly chainId: number;
  readonly fromBlock: bigint;
}

/** States that lead to a payout: what is in them must be our own doing. */
const LEADS_TO_PAYOUT = ['created', 'deducting', 'deducted'] as const;

/** Whether a row without our MAC must not go on in this state. */
export function needsEvidence({ state }: Pick<Redemption, 'state'>): boolean {
  return LEADS_TO_PAYOUT.some((one) => one === state);
}

/**
 * The text that the MAC of a row is made over; undefined where nothing can be paid by the row any more.
 *
 * Without a plan the version and the state are in it: a row that was written in a version cannot be put back later, when its points may
 * have gone back. With a plan they are not: the deadline bounds it, the vault pays an id once, and an operator's command may follow.
 */
export function evidenceContent(
  redemption: Redemption,
  place: EvidencePlace | null,
): string | undefined {
  const { plan, state, version, unprovenAttempts } = redemption;
  const terms = {
    id: redemption.id,
    partner: redemption.partner,
    wallet: redemption.wallet,
    points: redemption.points.toString(),
    tokenAmount: redemption.tokenAmount.toString(),
    tokenDecimals: redemption.tokenDecimals,
    partnerTransactionId: redemption.partnerTransactionId,
  };
  if (plan !== null) {
    if (place === null) return undefined;
    return canonicalJson({
      kind: 'lowmark-plan-1',
      ...terms,
      recipient: plan.recipient,
      amount: plan.amount.toString(),
      deadlineSeconds: plan.deadlineSeconds,
      vault: place.vault,
      chainId: place.chainId,
      fromBlock: place.fromBlock.toString(),
    });
  }
  if (!needsEvidence(redemption)) return undefined;
  return canonicalJson({ kind: 'lowmark-row-1', ...terms, state, version, unprovenAttempts });
}
