/**
 * The texts that the MACs of rows cover: the terms that a voucher rests on, the transaction ids that a row has for its
 * deduction, and the terms of a session.
 */
import { type Address } from '../values/address.js';
import { canonicalJson } from '../values/canonical-json.js';
import { type Redemption, type RedemptionState } from './redemption.js';

/** The vault and the chain of a payout plan, frozen with its terms. */
export interface PayoutPlace {
  readonly vault: Address;
  readonly chainId: number;
  /** First block of the search for the payout's events: final before the voucher was signed. */
  readonly fromBlock: bigint;
}

/**
 * Whether a payout may still be planned from a state. The service itself must have written a row in such a state. From
 * `authorised` on the plan is what the MAC covers.
 */
const LEADS_TO_PLAN: Readonly<Record<RedemptionState, boolean>> = {
  created: true,
  deducting: true,
  deducted: true,
  authorised: false,
  reverting: false,
  claimed: false,
  reverted: false,
  failed: false,
  attention: false,
};

/** Whether a row in this state must not continue without a valid MAC. */
export function needsEvidence({ state }: Redemption): boolean {
  return LEADS_TO_PLAN[state];
}

/**
 * The text that the MAC of a row covers; undefined where nothing can be paid by the row any more.
 *
 * Without a plan the text includes version and state, so that an old copy of a row cannot be put back after its points
 * may have been given back. With a plan it leaves them out: the deadline bounds the plan, the vault pays an id once,
 * and an operator's command may follow.
 */
export function evidenceContent(
  redemption: Redemption,
  place: PayoutPlace | null,
): string | undefined {
  const { plan, state, version, unprovenAttempts } = redemption;
  const terms = {
    id: redemption.id,
    partner: redemption.partner,
    wallet: redemption.wallet,
    points: redemption.points.toString(),
    initialAtMs: redemption.initialAtMs,
    quoteExpiresAtMs: redemption.quoteExpiresAtMs,
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

/**
 * The text that the MAC of a row's transaction ids covers; undefined where the row has none. A revert gives back the
 * points of the transaction that it names, which may be another redemption's. So only ids are sent that the partner, or
 * an operator with the key, gave for this redemption. The MAC is valid in every state, because the ids stay those of
 * this redemption.
 */
export function transactionIdsContent(redemption: Redemption): string | undefined {
  const { id, partner, wallet, points, partnerTransactionId, candidateTransactionIds } = redemption;
  if (partnerTransactionId === null && candidateTransactionIds.length === 0) return undefined;
  return canonicalJson({
    kind: 'lowmark-names-1',
    id,
    partner,
    wallet,
    points: points.toString(),
    partnerTransactionId,
    candidateTransactionIds: [...candidateTransactionIds],
  });
}

/** Whether the next call is a revert, which sends the transaction ids of the row. */
export function sendsTransactionIds({ state, openCall }: Redemption): boolean {
  return state === 'reverting' && openCall === null;
}

export interface SessionTerms {
  /** SHA-256 of the bearer token, hex. */
  readonly tokenHash: string;
  readonly wallet: Address;
  /** One of SIWE_DOMAINS: the page on which the wallet signed. */
  readonly domain: string;
  readonly expiresAtMs: number;
}

/** The text that the MAC of a session's row covers. */
export function sessionContent(terms: SessionTerms): string {
  return canonicalJson({ kind: 'lowmark-session-1', ...terms });
}
