/**
 * What the chain proves about one authorised payout: the payout was made, it can never be made, or neither is proven
 * yet.
 *
 * Evidence comes from final blocks only, and only where everything that was read agrees: the vault's status for the
 * redemption at the end of the final block, and the vault's events up to that block. One endpoint, and a second one
 * where there is one, is read at the newest block that it holds final; the lower of the two blocks counts. A deadline
 * must have passed by our own clock as well. Where facts do not fit together the outcome is `live`, on which nothing is
 * done, with a doubt that is reported.
 */
import { type Address } from '../values/address.js';
import { type BlockRef } from '../values/block.js';

export type VaultStatus = 'none' | 'claimed' | 'cancelled';

/** The authorised payout, frozen before the voucher is signed. */
export interface PayoutTerms {
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds; a block with exactly this timestamp still pays. */
  readonly deadlineSeconds: number;
}

interface VaultEventAt {
  /** `0x` and 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly block: BlockRef;
}

export interface ClaimEvent extends VaultEventAt {
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The vault will never pay this redemption. */
export type CancelEvent = VaultEventAt;

/** The statement of one endpoint about one redemption. */
export interface VaultSighting {
  /** Name of the endpoint, for the text of a doubt. */
  readonly witness: string;
  /**
   * The newest block that the endpoint holds final. `status` is the status at the end of this block, and the events are
   * all events of the redemption up to its end.
   */
  readonly finalised: BlockRef;
  readonly status: VaultStatus;
  readonly claims: readonly ClaimEvent[];
  readonly cancellations: readonly CancelEvent[];
}

export interface Doubt {
  /**
   * `contradiction`: the facts about this payout cannot all be true, and a person should look at them. `unconfirmed`:
   * one endpoint sees an end, and either no second endpoint could be asked yet, or the second one does not have that
   * block final. `disagreement`: the endpoints differ about the final blocks themselves, for all payouts, which is
   * reported once.
   */
  readonly kind: 'contradiction' | 'unconfirmed' | 'disagreement';
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

/** The conditions of a proof besides the facts that were read. */
export interface EvidenceRules {
  /** How many endpoints must see the same end; at least 1. */
  readonly witnesses: number;
  /** Our own clock, Unix seconds. */
  readonly nowSeconds: number;
  /** Seconds by which a deadline must have passed by our own clock before a payout counts as expired. */
  readonly marginSeconds: number;
}

/**
 * @param sightings of one redemption, each from another endpoint. The caller checks that their final blocks belong to
 * one chain, see `differenceOf`
 */
export function payoutEvidence(
  terms: PayoutTerms,
  sightings: readonly VaultSighting[],
  rules: EvidenceRules,
): PayoutEvidence {
  const [first, ...others] = sightings;
  if (!first) return { outcome: 'live' };
  const finalised = lowest(sightings);
  const verdictOf = (sighting: VaultSighting): PayoutEvidence =>
    verdictAt(finalised, { terms, sighting, rules });
  const verdict = verdictOf(first);
  for (const other of others) {
    const second = verdictOf(other);
    if (isDoubtful(verdict)) break;
    if (isDoubtful(second)) return second;
    const [one, two] = [endOf(verdict), endOf(second)];
    if (one !== two) {
      return contradiction(
        `${first.witness} sees ${one}, ${other.witness} sees ${two}, up to block ${finalised.hash}`,
      );
    }
  }
  if (verdict.outcome === 'live') return verdict;
  const names = [...new Set(sightings.map(({ witness }) => witness))];
  if (names.length >= Math.max(1, rules.witnesses)) return verdict;
  return unconfirmed(
    `${names.join(', ')} sees ${endOf(verdict)}; no other endpoint has confirmed it`,
  );
}

/** The newest block that every endpoint holds final. */
function lowest(sightings: readonly VaultSighting[]): BlockRef {
  return sightings
    .map(({ finalised }) => finalised)
    .reduce((low, block) => (block.number < low.number ? block : low));
}

interface Case {
  readonly terms: PayoutTerms;
  readonly sighting: VaultSighting;
  readonly rules: EvidenceRules;
}

/**
 * The meaning of one sighting at the end of a final block, which is the sighting's own newest block or an older one.
 */
function verdictAt(finalised: BlockRef, { terms, sighting, rules }: Case): PayoutEvidence {
  const { witness, status, claims, cancellations } = sighting;
  const [claim] = claims;
  const [cancellation] = cancellations;
  const fault = faultOf(sighting);
  if (fault !== undefined) return contradiction(`${witness}: ${fault}`);
  const breach = claim && breachOf(terms, claim);
  if (breach !== undefined) return contradiction(`${witness}: ${breach}`);
  const end = claim ?? cancellation;
  if (end && end.block.number > finalised.number) {
    // The absence of events up to the lower block proves nothing any more, because a later event is known.
    return unconfirmed(
      `${witness} sees an end in final block ${end.block.number.toString()}; another endpoint has blocks final up to ${finalised.number.toString()} only`,
    );
  }
  if (claim) return { outcome: 'paid', finalised, ...claim };
  if (cancellation) return { outcome: 'dead', reason: 'cancelled', finalised, ...cancellation };
  const { deadlineSeconds } = terms;
  const isOver = (seconds: number): boolean => seconds > deadlineSeconds;
  return status === 'none' &&
    isOver(finalised.timestampSeconds) &&
    isOver(rules.nowSeconds - rules.marginSeconds)
    ? { outcome: 'dead', reason: 'expired', finalised }
    : { outcome: 'live' };
}

/** Describes facts of a sighting that cannot be true, or undefined. */
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

/**
 * How a claim differs from the authorised payout. The vault pays no other claim, so either another party signs vouchers
 * or an endpoint makes false statements.
 */
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

/** Describes the outcome; equal outcomes have equal texts. */
function endOf(evidence: PayoutEvidence): string {
  if (evidence.outcome === 'live') return 'an open payout';
  if (evidence.outcome === 'dead' && evidence.reason === 'expired') return 'an expired one';
  const what = evidence.outcome === 'paid' ? 'a claim' : 'a cancellation';
  const { transactionHash, block } = evidence;
  return `${what} in ${transactionHash} of block ${block.hash} at ${block.timestampSeconds}`;
}

function contradiction(text: string): PayoutEvidence {
  return { outcome: 'live', doubt: { kind: 'contradiction', text } };
}

function unconfirmed(text: string): PayoutEvidence {
  return { outcome: 'live', doubt: { kind: 'unconfirmed', text } };
}
