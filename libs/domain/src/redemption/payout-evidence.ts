/**
 * What the chain proves about one authorised payout: it was made, it can never be made, or neither yet.
 *
 * Evidence comes from final blocks only, and only where everything that was read says the same: the vault's status for the
 * redemption, pinned at the final block, and the vault's events up to that block; by one node, and by a second one where there is
 * one. Whatever does not fit together is `live`, the outcome on which nothing is done, with the doubt to be reported.
 */
import { type Address } from '../chain/address.js';
import { type BlockRef } from '../chain/block.js';

/** What the vault says became of a redemption. */
export type VaultStatus = 'none' | 'claimed' | 'cancelled';

/** What was authorised: frozen before the voucher is signed. */
export interface PayoutTerms {
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds; a block of exactly this time still pays. */
  readonly deadlineSeconds: number;
}

interface VaultEventAt {
  /** `0x` and 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly block: BlockRef;
}

/** The vault paid. */
export interface ClaimEvent extends VaultEventAt {
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The vault will never pay this redemption. */
export type CancelEvent = VaultEventAt;

/** What one node says about one redemption. */
export interface VaultSighting {
  /** The endpoint, for the doubt's text. */
  readonly witness: string;
  /** A final block: the status is that at its end, the events are all of the redemption up to its end. */
  readonly finalised: BlockRef;
  readonly status: VaultStatus;
  readonly claims: readonly ClaimEvent[];
  readonly cancellations: readonly CancelEvent[];
}

export interface Doubt {
  /**
   * `contradiction`: what was read cannot all be true; somebody should look. `unconfirmed`: one node sees an end, and no
   * second one could be asked yet.
   */
  readonly kind: 'contradiction' | 'unconfirmed';
  readonly text: string;
}

export type PayoutEvidence =
  | ({ readonly outcome: 'paid'; readonly finalised: BlockRef } & ClaimEvent)
  | { readonly outcome: 'dead'; readonly reason: 'expired'; readonly finalised: BlockRef }
  | ({
      readonly outcome: 'dead';
      readonly reason: 'cancelled';
      readonly finalised: BlockRef;
    } & CancelEvent)
  | { readonly outcome: 'live'; readonly doubt?: Doubt };

/**
 * @param sightings of one redemption, each by another node
 * @param witnesses how many of them an end needs; at least 1
 */
export function payoutEvidence(
  terms: PayoutTerms,
  sightings: readonly VaultSighting[],
  witnesses: number,
): PayoutEvidence {
  const [first, ...others] = sightings;
  if (!first) return { outcome: 'live' };
  const verdict = verdictOf(terms, first);
  for (const other of others) {
    const second = verdictOf(terms, other);
    if (isDoubtful(verdict)) break;
    if (isDoubtful(second)) return second;
    const [one, two] = [endOf(verdict, first), endOf(second, other)];
    if (one !== two) {
      return contradiction(`${first.witness} sees ${one}, ${other.witness} sees ${two}`);
    }
  }
  if (verdict.outcome === 'live') return verdict;
  const names = [...new Set(sightings.map(({ witness }) => witness))];
  if (names.length >= Math.max(1, witnesses)) return verdict;
  const text = `${names.join(', ')} sees ${endOf(verdict, first)}; no other endpoint has confirmed it`;
  return { outcome: 'live', doubt: { kind: 'unconfirmed', text } };
}

function verdictOf(terms: PayoutTerms, sighting: VaultSighting): PayoutEvidence {
  const { finalised, status, claims, cancellations } = sighting;
  const [claim] = claims;
  const [cancellation] = cancellations;
  const fault = faultOf(sighting);
  if (fault !== undefined) return contradiction(`${sighting.witness}: ${fault}`);
  if (claim) {
    const breach = breachOf(terms, claim);
    if (breach !== undefined) return contradiction(`${sighting.witness}: ${breach}`);
    return { outcome: 'paid', finalised, ...claim };
  }
  if (cancellation) return { outcome: 'dead', reason: 'cancelled', finalised, ...cancellation };
  if (status === 'none' && finalised.timestampSeconds > terms.deadlineSeconds) {
    return { outcome: 'dead', reason: 'expired', finalised };
  }
  return { outcome: 'live' };
}

/** What of a sighting cannot be true, or undefined. */
function faultOf({ finalised, status, claims, cancellations }: VaultSighting): string | undefined {
  const found = [
    ...(claims.length > 0 ? [`${claims.length} claims`] : []),
    ...(cancellations.length > 0 ? [`${cancellations.length} cancellations`] : []),
  ];
  const fits =
    claims.length === (status === 'claimed' ? 1 : 0) &&
    cancellations.length === (status === 'cancelled' ? 1 : 0);
  if (!fits) {
    const events = found.length > 0 ? found.join(' and ') : 'no event';
    return `the status at block ${finalised.number.toString()} is ${status}, with ${events}`;
  }
  for (const { block } of [...claims, ...cancellations]) {
    const above = block.number > finalised.number;
    const forked = block.number === finalised.number && block.hash !== finalised.hash;
    if (above || forked || block.timestampSeconds > finalised.timestampSeconds) {
      return `an event of block ${block.hash} is not up to the final block ${finalised.hash}`;
    }
  }
  return undefined;
}

/** In what a claim differs from what was authorised: the vault pays no other, so somebody else signs, or a node lies. */
function breachOf(
  terms: PayoutTerms,
  { recipient, amount, block }: ClaimEvent,
): string | undefined {
  if (recipient !== terms.recipient) return `the claim paid ${recipient}, not ${terms.recipient}`;
  if (amount !== terms.amount) {
    return `the claim paid ${amount.toString()}, not ${terms.amount.toString()}`;
  }
  if (block.timestampSeconds > terms.deadlineSeconds) return 'the claim is later than its deadline';
  return undefined;
}

function isDoubtful(evidence: PayoutEvidence): boolean {
  return evidence.outcome === 'live' && evidence.doubt !== undefined;
}

/** In words, the same for the same end seen at the same final block. */
function endOf(evidence: PayoutEvidence, { finalised }: VaultSighting): string {
  const at = ` at block ${finalised.hash}`;
  if (evidence.outcome === 'live') return `an open payout${at}`;
  if (evidence.outcome === 'dead' && evidence.reason === 'expired') return `an expired one${at}`;
  const what = evidence.outcome === 'paid' ? 'a claim' : 'a cancellation';
  return `${what} in ${evidence.transactionHash} of block ${evidence.block.hash}${at}`;
}

function contradiction(text: string): PayoutEvidence {
  return { outcome: 'live', doubt: { kind: 'contradiction', text } };
}
