/** What a seed chooses for a world: its sizes, its partners and players, and what goes wrong there. */
import { type Address, PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { type PartnerNature } from '../../../apps/redemption/test/partner/partner-books.js';
import { type Choices } from '../kernel/index.js';
import { type FaultName } from './partner.js';

export const CLAIM_MANNERS = [
  'soon',
  'never',
  'some time',
  'twice',
  'in the last second',
  'a second too late',
  'only a later voucher',
] as const;
export type ClaimManner = (typeof CLAIM_MANNERS)[number];

export interface WalletPlan {
  readonly wallet: Address;
  readonly partner: number;
  readonly points: number;
  /** Points at the partner; undefined: the partner does not know the wallet. */
  readonly balance: number | undefined;
  readonly startsAfterMs: number;
  readonly quoteTtlMs: number;
  readonly claims: ClaimManner;
  /** From the start of the redemption. */
  readonly cancelsAfterMs: number | undefined;
  /** How often the player redeems, one redemption after the other. */
  readonly redemptions: number;
}

export interface PartnerPlan {
  readonly name: string;
  readonly nature: PartnerNature;
  readonly recorded: readonly PartnerCapability[];
  readonly confirms: boolean;
  /** How many calls of 1,000 go wrong on the way or at the partner. */
  readonly faultsPerMille: number;
  /** The faults of its deductions; absent: all that there are. */
  readonly mood: readonly FaultName[] | undefined;
  /** Faults after which the partner and the way to it are in order. */
  readonly mostFaults: number;
  /** Whether calls to it are slow: they take up to the deadline. */
  readonly isSlow: boolean;
}

/** Clocks minus that of the world, in milliseconds. */
export interface Clocks {
  /** Of the machines of the workers. */
  readonly workersMs: readonly number[];
  readonly databaseMs: number;
  readonly chainMs: number;
}

export interface WorldPlan {
  readonly partners: readonly PartnerPlan[];
  readonly wallets: readonly WalletPlan[];
  readonly workers: number;
  readonly clocks: Clocks;
  /** Endpoints of the chain: one, or two. */
  readonly nodes: number;
  readonly lies: boolean;
  readonly hasProvableHeaders: boolean;
  readonly reorganises: boolean;
  readonly kills: boolean;
  readonly restores: boolean;
  /** Whether an intruder, who has the ledger's credential and no key, writes a redemption. */
  readonly forges: boolean;
  /** How many calls of 1,000 to a node, and to the database, fail. */
  readonly rpcFaultsPerMille: number;
  readonly databaseFaultsPerMille: number;
  /** Answers of nodes and the database take no time. */
  readonly isPunctual: boolean;
  /** Of a redemption: three times the longest call, or as long as it and a third. */
  readonly leaseMs: number;
  /** Tokens of the vault, and of a partner and a wallet in a day. */
  readonly funds: bigint;
  readonly partnerDailyTokens: bigint;
  readonly walletDailyTokens: bigint;
  readonly stormSteps: number;
}

const NATURES: readonly (readonly PartnerCapability[])[] = [
  PARTNER_CAPABILITIES,
  [],
  ['revert-by-redemption-id'],
  ['revert-by-redemption-id', 'enforces-freshness'],
  ['revert-by-redemption-id', 'tombstones'],
  ['refuses-mismatched-pair'],
  ['tombstones', 'revert-by-redemption-id', 'refuses-mismatched-pair'],
];

/** Deductions that arrive late or not at all, whose answers are lost, invented, or those of other calls. */
const MOODS: readonly (readonly FaultName[])[] = [
  ['held', 'held, and told as a duplicate'],
  ['held', 'lost', 'reset at once'],
  ['answer lost', 'answer reset', 'server error after'],
  ['success from nowhere', 'bad gateway'],
  ['success from nowhere', 'unsigned', 'forged'],
  ['refusal invented'],
  ['refusal invented', 'refusal invented, call held', 'answers swapped'],
  ['answer replayed', 'answers swapped', 'copied'],
];

const OUR_CLOCKS_MS = [0, 2_000, -2_000, 30_000, -30_000];
const CHAIN_CLOCKS_MS = [0, 10_000, -10_000, 60_000, 250_000];

/** Tokens for a point, in the smallest unit. */
export const TOKENS_PER_POINT = 10n;
const MOST_POINTS = 100;
const CANCELS_AFTER_MS = [
  ...[undefined, undefined, undefined, undefined],
  ...[0, 2_000, 15_000, 60_000, 200_000, 400_000],
];

export function worldPlan(choices: Choices): WorldPlan {
  const partners = 1 + choices.weighted('partners', [6, 2]);
  const wallets = 1 + choices.weighted('wallets', [5, 3, 1]);
  const nodes = 2 - choices.weighted('nodes', [5, 1]);
  const tight = (most: bigint): bigint => {
    const isTight = choices.weighted('budget', [3, 1]) === 1;
    return isTight ? BigInt(choices.between('budget', 50, 150)) * TOKENS_PER_POINT : most;
  };
  const workers = 1 + choices.weighted('workers', [2, 5]);
  const isStormy = choices.weighted('calm', [1, 3]) === 1;
  return {
    partners: Array.from({ length: partners }, (_, index) => partnerPlan(choices, index)),
    wallets: Array.from({ length: wallets }, (_, index) => walletPlan(choices, index, partners)),
    workers,
    clocks: clocksOf(choices, workers),
    nodes,
    lies: nodes === 2 && choices.weighted('lies', [2, 1]) === 1,
    hasProvableHeaders: choices.weighted('headers', [9, 1]) === 1,
    reorganises: choices.weighted('reorganises', [2, 1]) === 1,
    kills: choices.weighted('kills', [1, 1]) === 1,
    restores: choices.weighted('restores', [3, 1]) === 1,
    forges: choices.weighted('forges', [7, 1]) === 1,
    rpcFaultsPerMille: isStormy ? choices.pick('rpc faults', [0, 10, 50, 200]) : 0,
    databaseFaultsPerMille: isStormy ? choices.pick('database faults', [0, 5, 20, 60]) : 0,
    isPunctual: choices.weighted('punctual', [1, 1]) === 0,
    leaseMs: choices.pick('lease', [45_000, 24_000]),
    funds: tight(10n ** 9n),
    partnerDailyTokens: tight(10n ** 9n),
    walletDailyTokens: tight(10n ** 9n),
    stormSteps: choices.pick('storm', [300, 600, 1200]),
  };
}

/** Our machines differ by a minute at most; a final block may be five minutes ahead of each of them. */
function clocksOf(choices: Choices, workers: number): Clocks {
  const areRight = choices.weighted('clocks', [2, 1]) === 0;
  const ours = (): number => choices.pick('clocks', areRight ? [0] : OUR_CLOCKS_MS);
  return {
    workersMs: Array.from({ length: workers }, ours),
    databaseMs: ours(),
    chainMs: choices.pick('clocks', areRight ? [0] : CHAIN_CLOCKS_MS),
  };
}

function partnerPlan(choices: Choices, index: number): PartnerPlan {
  const does = choices.pick('nature', NATURES);
  return {
    name: `p${index}`,
    nature: {
      does,
      balanceFirst: choices.int('nature', 5) >= 3,
      namesDuplicates: choices.int('nature', 2) === 1,
      signsRefusals: choices.int('nature', 5) < 4,
      clockAheadMs: choices.pick('nature', [0, 0, 60_000, -60_000, 200_000, -200_000]),
    },
    recorded: choices.int('nature', 5) < 4 ? does : does.slice(0, choices.int('nature', 4)),
    confirms: choices.int('nature', 7) < 6,
    faultsPerMille: choices.pick('partner faults', [0, 300, 500, 800, 800, 1000]),
    mood: MOODS[choices.int('partner faults', 2 * MOODS.length)],
    mostFaults: choices.between('partner faults', 1, 12),
    isSlow: choices.weighted('partner faults', [3, 1]) === 1,
  };
}

function walletPlan(choices: Choices, index: number, partners: number): WalletPlan {
  const points = choices.between('wallet', 10, MOST_POINTS);
  const balances = [points + 500, points, points + 30, points - 1, undefined];
  return {
    wallet: `0x${(0x1000 + index).toString(16).padStart(40, 'a')}` as Address,
    partner: choices.int('wallet', partners),
    points,
    balance: balances[choices.weighted('wallet', [4, 6, 3, 1, 1])],
    startsAfterMs: choices.pick('wallet', [0, 0, 1000, 60_000]),
    quoteTtlMs: choices.pick('wallet', [120_000, 30_000, 120_000, 2_000]),
    claims: choices.pick('wallet', CLAIM_MANNERS),
    cancelsAfterMs: CANCELS_AFTER_MS[choices.int('wallet', CANCELS_AFTER_MS.length)],
    redemptions: choices.pick('wallet', [1, 1, 2]),
  };
}
