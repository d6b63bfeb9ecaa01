/**
 * What a partner is known to do beyond the interface; recorded per partner, none by default, found by the conformance tester.
 *
 * - `revert-by-redemption-id`: a revert without `partnerTransactionId` reverts the deduction of that `svcRedemptionId`
 * - `tombstones`: a revert that finds nothing makes a later deduct of the same `svcRedemptionId` fail
 * - `enforces-freshness`: a call is refused when its `X-API-REQUEST` is more than 300 s old, so a late copy does nothing
 * - `signs-all-responses`: every answer is signed, whatever its status; an unsigned one is then not the partner's
 * - `refuses-mismatched-pair`: a revert whose transaction id belongs to another `svcRedemptionId` is refused (rule E: a candidate id may
 *   be tried only there)
 */
export const PARTNER_CAPABILITIES = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
] as const;
export type PartnerCapability = (typeof PARTNER_CAPABILITIES)[number];

/** The partner's settings that a transition depends on. */
export interface PartnerPolicy {
  readonly capabilities: readonly PartnerCapability[];
  /** Whether the partner has the optional confirmation endpoint (rule H). */
  readonly confirms: boolean;
}
