/** The provider profiles of the benchmark: the behaviour of each, and the part of a chain that is read from it. */
import { type ProviderBehaviour, type REPLAY_SHAPES } from '../replay/index.js';

export type ChainName = keyof typeof REPLAY_SHAPES;

export interface Profile {
  readonly name: string;
  readonly what: string;
  /** One behaviour per endpoint. */
  readonly endpoints: readonly ProviderBehaviour[];
  /** The endpoints of the floor, without the faults that the floor would have to detect. Default: `endpoints`. */
  readonly floorEndpoints?: readonly ProviderBehaviour[];
  /** Largest range of one eth_getLogs in blocks, where the provider has a cap. */
  readonly rangeCap?: number;
  /** Budget of the floor in compute units per second. */
  readonly unitsPerSecond?: number;
  /**
   * Divisor of blocks, events and wallets by chain, where only a part of the chain is read. The density stays the same.
   */
  readonly slices?: Partial<Record<ChainName, number>>;
  /** The chains on which the profile runs where no profiles are named. A named profile runs on all chains. */
  readonly chains: readonly ChainName[];
}

const BOTH: readonly ChainName[] = ['sparse', 'dense'];
const ALL: readonly ChainName[] = ['sparse', 'dense', 'issue'];
const ON_REQUEST: readonly ChainName[] = [];

const REFUSING: ProviderBehaviour = { refusals: { tooMany: 0.05, unavailable: 0.05 } };

function budget(
  unitsPerSecond: number,
  slices: NonNullable<Profile['slices']>,
): Omit<Profile, 'name'> {
  return {
    what: `${unitsPerSecond.toLocaleString('en-US')} compute units a second, then 429`,
    endpoints: [{ budget: { unitsPerSecond } }],
    unitsPerSecond,
    slices,
    chains: unitsPerSecond === 5000 ? ALL : BOTH,
  };
}

function wrongLogs(name: string, what: string, wrong: ProviderBehaviour, chains = BOTH): Profile {
  return { name, what, endpoints: [wrong], floorEndpoints: [{}], chains };
}

export const PROFILES: readonly Profile[] = [
  { name: 'perfect', what: 'no faults, no limits', endpoints: [{}], chains: ALL },
  { name: 'distant', what: '150 ms away', endpoints: [{ latencyMs: 150 }], chains: BOTH },
  { name: 'refusing', what: '5 % 429 and 5 % 503', endpoints: [REFUSING], chains: ALL },
  {
    name: 'refusing-two',
    what: 'the same, two endpoints',
    endpoints: [REFUSING, { ...REFUSING, seed: 2 }],
    chains: ['issue'],
  },
  {
    name: 'refusing-calls',
    what: '5 % of the calls of batches 429, 5 % 503',
    endpoints: [{ refusals: { tooMany: 0.05, unavailable: 0.05, style: 'call' } }],
    chains: ON_REQUEST,
  },
  { name: 'budget-500', ...budget(500, { sparse: 20, dense: 20, issue: 20 }) },
  { name: 'budget-5000', ...budget(5000, { dense: 2 }) },
  {
    name: 'budget-calls',
    what: '5,000 compute units a second, then errors for single calls',
    endpoints: [{ budget: { unitsPerSecond: 5000, style: 'call' } }],
    unitsPerSecond: 5000,
    slices: { sparse: 2, dense: 2, issue: 2 },
    chains: ON_REQUEST,
  },
  {
    name: 'range-2000',
    what: 'ranges of 2,000 blocks at most',
    endpoints: [{ rangeCap: { blocks: 2000, style: 'quicknode' } }],
    rangeCap: 2000,
    chains: BOTH,
  },
  {
    name: 'range-10',
    what: 'ranges of 10 blocks at most',
    endpoints: [{ rangeCap: { blocks: 10, style: 'alchemy' } }],
    rangeCap: 10,
    slices: { sparse: 20, issue: 20 },
    chains: BOTH,
  },
  {
    name: 'results-10000',
    what: '10,000 logs in an answer at most',
    endpoints: [{ resultCap: { logs: 10_000 } }],
    chains: ON_REQUEST,
  },
  {
    name: 'batch-100',
    what: 'batches of 100 calls at most',
    endpoints: [{ batchCap: { calls: 100, style: 'object' } }],
    chains: BOTH,
  },
  {
    name: 'batch-100-rest',
    what: 'the same, with errors for the calls beyond',
    endpoints: [{ batchCap: { calls: 100, style: 'rest' } }],
    chains: ON_REQUEST,
  },
  wrongLogs(
    'drops',
    'half of the logs of one in ten answers',
    { drops: { kind: 'half-of-one-in-ten' } },
    ALL,
  ),
  wrongLogs(
    'drops-one',
    'one given log, always',
    { drops: { kind: 'one', nth: 5000 } },
    ON_REQUEST,
  ),
  wrongLogs(
    'drops-one-receipt',
    'one given log, always, in receipts too',
    { drops: { kind: 'one', nth: 5000, inReceipts: true } },
    ON_REQUEST,
  ),
  wrongLogs('blooms-system', 'blooms promise events that are not there', { blooms: 'system' }, [
    'issue',
  ]),
  wrongLogs('blooms-zero', 'blooms are zero', { blooms: 'zero' }, ON_REQUEST),
  wrongLogs('blooms-ones', 'blooms are all ones', { blooms: 'ones' }, ON_REQUEST),
  wrongLogs(
    'blooms-inherited',
    'blooms are those of the parent',
    { blooms: 'inherited' },
    ON_REQUEST,
  ),
  {
    name: 'one-dies',
    what: 'two endpoints, the first dies after 100 requests',
    endpoints: [{ outage: { afterRequests: 100, how: 'reset' } }, {}],
    floorEndpoints: [{}, {}],
    chains: BOTH,
  },
  {
    name: 'one-hangs',
    what: 'two endpoints, the first stops answering after 100 requests',
    endpoints: [{ outage: { afterRequests: 100, how: 'hang' } }, {}],
    floorEndpoints: [{}, {}],
    chains: ON_REQUEST,
  },
  {
    name: 'outage',
    what: 'away for 20 s after 100 requests',
    endpoints: [{ outage: { afterRequests: 100, how: 'unavailable', forMs: 20_000 } }],
    floorEndpoints: [{}],
    chains: ON_REQUEST,
  },
  {
    name: 'rubbish',
    what: '2 % of the answers are HTML, cut, with wrong ids, or one error',
    endpoints: [
      { rubbish: { kinds: ['html', 'truncated', 'wrong-ids', 'error-object'], share: 0.02 } },
    ],
    floorEndpoints: [{}],
    chains: ON_REQUEST,
  },
  {
    name: 'huge',
    what: '0.2 % of the answers are 200 MB',
    endpoints: [{ rubbish: { kinds: ['huge'], share: 0.002 } }],
    floorEndpoints: [{}],
    chains: ON_REQUEST,
  },
];

/** @throws Error that lists the known names */
export function profilesNamed(names: string): readonly Profile[] {
  if (names === 'all') return PROFILES;
  return names.split(',').map((name) => {
    const found = PROFILES.find((profile) => profile.name === name);
    if (found) return found;
    const known = PROFILES.map((profile) => `  ${profile.name.padEnd(18)} ${profile.what}`);
    throw new Error(`There is no profile ${name}. The profiles:\n${known.join('\n')}`);
  });
}
