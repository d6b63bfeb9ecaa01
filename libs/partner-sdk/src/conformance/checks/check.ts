/** A check is a rule of the interface, with a remedy for a partner that violates the rule. */

/** `error`: the interface is violated. `warning`: allowed, but at a cost to one side. `info`: good to know. */
export type Severity = 'error' | 'warning' | 'info';

/**
 * What a partner may do beyond the letter of the interface. The service handles calls with unknown outcome accordingly.
 */
export const CAPABILITIES = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

export interface Check {
  readonly severity: Severity;
  readonly title: string;
  /** The section of the documentation with the rule, such as `Signatures` or `POST /revert-deduct-points, rule 2`. */
  readonly section: string;
  readonly rule: string;
  readonly remedy: string;
  /** The capability that the partner has if all checks with it pass. */
  readonly capability?: Capability;
}

/** Checks by their ids. The severity is `error` where a row has none. */
export type CheckRows = Readonly<
  Record<string, Omit<Check, 'severity'> & { readonly severity?: Severity }>
>;
