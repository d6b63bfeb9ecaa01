/** What the MACs of rows are made over: all that a voucher rests on, what a row calls its deduction, and who is signed in. */
import { type Address } from '../chain/address.js';
import { canonicalJson } from '../signing/canonical-json.js';
import { type Redemption } from './redemption.js';

/** Where a payout plan is good, beside its terms; frozen with them. */
export interface PayoutPlace {
  readonly vault: Address;
  readonly chainId: number;
  /** Where the search for the payout's events begins: final before the voucher was signed. */
  readonly fromBlock: bigint;
}

/** States that lead to a payout: what is in them must be our own doing. */
const LEADS_TO_PAYOUT = ['created', 'deducting', 'deducted'] as const;

/** Whether a row without our MAC must not go on in this state. */
export function needsEvidence({ state }: Redemption): boolean {
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
 * The text that the MAC of a deduction's names is made over; undefined where the row names none. A revert gives back the points of the
 * transaction that it names, which may be another redemption's: so only names that a partner, or an operator with the key, gave this one
 * are sent. It is good in every state, as the names stay this redemption's own.
 */
export function namesContent(redemption: Redemption): string | undefined {
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

/** Whether the next call would give back what the row names. */
export function sendsNames({ state, openCall }: Redemption): boolean {
  return state === 'reverting' && openCall === null;
}

/** Who is signed in, on which page, until when. */
export interface SessionTerms {
  /** SHA-256 of the bearer token, hex. */
  readonly tokenHash: string;
  readonly wallet: Address;
  /** One of SIWE_DOMAINS: the page on which the wallet signed. */
  readonly domain: string;
  readonly expiresAtMs: number;
}

/** The text that the MAC of a session's row is made over. */
export function sessionContent(terms: SessionTerms): string {
  return canonicalJson({ kind: 'lowmark-session-1', ...terms });
}
