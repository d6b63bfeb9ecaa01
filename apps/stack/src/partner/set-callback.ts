import { type PartnerCallbackKeys } from '../data/stack-file.js';
import { operator, type OperatorSettings } from './operator.js';

/** What the reference partner can do; see its README. */
const CAPABILITIES = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
];
const TERMS = [
  ...['--usd-per-point', '0.01', '--bonus-from', '5000', '--bonus-rate', '0.02'],
  ...['--daily-token-budget', '1000000'],
];

/** Tells the service how to call the reference partner and what its points are worth, with the operator's own command. */
export async function setCallback(
  { name, url }: { readonly name: string; readonly url: string },
  { key, secret }: PartnerCallbackKeys,
  settings: OperatorSettings,
): Promise<void> {
  await operator(
    [
      ...['partner', 'set', name, '--callback-url', url, '--allow-private'],
      ...['--callback-key', key, '--callback-secret', '-'],
      ...TERMS,
      ...CAPABILITIES.flatMap((capability) => ['--capability', capability]),
    ],
    settings,
    secret,
  );
}
