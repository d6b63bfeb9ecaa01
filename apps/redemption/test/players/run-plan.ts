/** The contents of one run of the simulation, chosen by its own dice. */
import { type Address, PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { aWallet } from '#libs/testing';
import { type BookRequest, type PartnerNature } from '../partner/partner-books.js';
import { type FaultName, FAULTS } from '../partner/wire-faults.js';
import { type Temper } from '../partner/chaos-partner.js';
import { type Dice } from '../world/dice.js';

export const CLAIM_MANNERS = [
  'soon',
  'soon',
  'soon',
  'some time',
  'twice',
  'by a stranger',
  'in the last second',
  'a second too late',
  'never',
] as const;
export type ClaimManner = (typeof CLAIM_MANNERS)[number];

export interface RedemptionPlan {
  readonly wallet: Address;
  readonly points: number;
  /** Points at the partner before the run; undefined: the partner does not know the wallet. */
  readonly balance: number | undefined;
  readonly startsAfterMs: number;
  readonly quoteTtlMs: number;
  readonly claims: ClaimManner;
  /** Milliseconds from the start of the redemption; empty: no cancellation. */
  readonly cancelsAfterMs: readonly number[];
  /** Points that the player gets during the redemption. */
  readonly topUp: { readonly afterMs: number; readonly points: number } | undefined;
}

export interface RunPlan {
  readonly name: string;
  readonly nature: PartnerNature;
  readonly recorded: readonly PartnerCapability[];
  readonly confirms: boolean;
  readonly temper: Temper;
  /** Milliseconds from the start of the simulation in which the partner's address refuses connections. */
  readonly unreachableForMs: number;
  readonly firstFaults: Readonly<Record<BookRequest['step'], FaultName>>;
  readonly redemptions: readonly RedemptionPlan[];
}

/**
 * Faults of deductions that arrive late or not at all, whose answers are lost or invented, or that seem to be another
 * redemption's.
 */
const BAD_ROADS: readonly (readonly FaultName[])[] = [
  ['late'],
  ['late', 'lost', 'reset-at-once'],
  ['late', 'bad-gateway', 'redirected'],
  ['answer-lost', 'answer-reset', 'server-error-after'],
  ['success-from-nowhere', 'bad-gateway'],
  ['success-from-nowhere', 'unsigned', 'forged'],
  ['refusal-invented'],
  ['refusal-invented', 'refusal-invented-call-held', 'answers-swapped'],
];

/** Milliseconds within which all runs begin. */
const SPREAD_MS = 600_000;

export function runPlan(ordinal: number, dice: Dice): RunPlan {
  const does = dice.pick<readonly PartnerCapability[]>([
    PARTNER_CAPABILITIES,
    PARTNER_CAPABILITIES,
    [],
    ['revert-by-redemption-id'],
    ['revert-by-redemption-id'],
    ['revert-by-redemption-id', 'enforces-freshness'],
    ['revert-by-redemption-id', 'enforces-freshness'],
    ['revert-by-redemption-id', 'tombstones'],
    ['refuses-mismatched-pair'],
    dice.some(PARTNER_CAPABILITIES),
    dice.some(PARTNER_CAPABILITIES),
  ]);
  const startMs = dice.between(0, SPREAD_MS);
  const count = dice.pick([1, 1, 2, 2, 3]);
  return {
    name: `r${ordinal}`,
    nature: {
      does,
      balanceFirst: dice.chance(0.4),
      namesDuplicates: dice.chance(0.5),
      signsRefusals: dice.chance(0.8),
      clockAheadMs: dice.pick([0, 0, 60_000, -60_000, 200_000, -200_000]),
    },
    recorded: dice.chance(0.8) ? does : dice.some(does),
    confirms: dice.chance(0.85),
    temper: temperOf(dice),
    unreachableForMs: dice.chance(0.07) ? startMs + dice.pick([4_000, 90_000, 500_000]) : 0,
    firstFaults: firstFaultsOf(ordinal),
    redemptions: Array.from({ length: count }, (_, index) =>
      redemptionPlan(walletOf(ordinal, index), startMs, dice.for(index)),
    ),
  };
}

function temperOf(dice: Dice): Temper {
  if (dice.chance(0.03)) return { faultRate: 1, faultsUntilHealed: Infinity, deaf: true };
  const faultRate = dice.pick([0, 0.2, 0.5, 0.8, 1]);
  const never = dice.chance(0.06);
  const deaf = dice.chance(0.05);
  const temper = { faultRate, faultsUntilHealed: never ? Infinity : dice.between(1, 14), deaf };
  return dice.chance(0.3) ? { ...temper, deductions: dice.pick(BAD_ROADS) } : temper;
}

/** Takes the faults in turn, so that every fault is the first one of some partner. */
function firstFaultsOf(ordinal: number): RunPlan['firstFaults'] {
  const { deduct, revert, confirm } = FAULTS;
  const nth = (faults: readonly FaultName[]): FaultName =>
    faults[ordinal % faults.length] ?? 'lost';
  return { deduct: nth(deduct), revert: nth(revert), confirm: nth(confirm) };
}

function redemptionPlan(wallet: Address, startMs: number, dice: Dice): RedemptionPlan {
  const points = dice.between(50, 3000);
  const balance = dice.pick([points, points, points + 700, 3 * points, 10_000, points - 1]);
  const cancels = dice.chance(0.3);
  return {
    wallet,
    points,
    balance: dice.chance(0.04) ? undefined : balance,
    startsAfterMs: startMs + dice.pick([0, 0, 5_000, 60_000, 240_000]),
    quoteTtlMs: dice.chance(0.03) ? 1 : dice.pick([30_000, 120_000]),
    claims: dice.pick(CLAIM_MANNERS),
    cancelsAfterMs: cancels
      ? [dice.pick([0, 1_000, 6_000, 15_000, 60_000, 200_000, 500_000, 900_000]), 30_000].slice(
          0,
          dice.between(1, 2),
        )
      : [],
    topUp: dice.chance(0.2)
      ? { afterMs: dice.between(1_000, 400_000), points: dice.between(1, 2000) }
      : undefined,
  };
}

function walletOf(run: number, index: number): Address {
  return aWallet(0x1000_0000 + run * 16 + index);
}
