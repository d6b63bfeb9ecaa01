/** What a check is: a rule of the interface, and what to do where it is not kept. */

/** `error`: the interface is violated. `warning`: allowed, but at a cost to one side. `info`: good to know. */
export type Severity = 'error' | 'warning' | 'info';

/** What a partner may be able to do beyond the letter; the service handles its doubtful calls accordingly. */
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
  /** Where the rule stands: `interface` (docs of the four endpoints), `signatures`, `callbacks` or `redemption`. */
  readonly section: string;
  readonly rule: string;
  readonly remedy: string;
  /** The partner has it if all checks that name it passed. */
  readonly capability?: Capability;
}

/** By id. The severity is `error` where a row states none. */
export type CheckRows = Readonly<
  Record<string, Omit<Check, 'severity'> & { readonly severity?: Severity }>
>;
