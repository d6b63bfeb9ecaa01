/** Tokens paid beyond honest prices and true deductions, and the most that the settings of a run allow. */
import { type Decimal, redemptionAmounts, type RedemptionRate } from '#libs/domain';
import { type RedemptionFacts } from './redemption-facts.js';

/** All in the token's smallest unit. */
export interface Loss {
  /** Paid for points that were not taken, or went back. Must be 0, whatever false answers or intruders there are. */
  readonly withoutPoints: bigint;
  /** Paid beyond the honest price of points that were taken. */
  readonly byPrice: bigint;
  /** Upper bound of `byPrice`. */
  readonly priceBound: bigint;
  /** Redemptions that were paid more than the lowest usable price gives. */
  readonly beyondLimits: readonly string[];
}

export interface LossSettings {
  readonly rate: RedemptionRate;
  readonly tokenDecimals: number;
  readonly honestUsd: Decimal;
  /** The limits on the price refuse any lower price. */
  readonly lowestUsd: Decimal;
  /** Tokens per UTC day: of one partner, and of one wallet. */
  readonly partnerDailyTokens: bigint;
  readonly walletDailyTokens: bigint;
  /** Number of UTC days on which redemptions are made. */
  readonly days: number;
}

/** For each partner: the most points that each of its wallets redeems. */
export type PlannedPoints = readonly (readonly number[])[];

/** @param paid tokens that the vault has paid, by redemption id or by vault id */
export function lossOf(
  paid: ReadonlyMap<string, bigint>,
  all: readonly RedemptionFacts[],
  planned: PlannedPoints,
  settings: LossSettings,
): Loss {
  const known = new Map(all.map((facts) => [facts.id, facts]));
  let [withoutPoints, byPrice] = [0n, 0n];
  const beyondLimits: string[] = [];
  for (const [id, tokens] of paid) {
    const points = standingPoints(known.get(id));
    const justified = points === 0 ? 0n : tokensAt(settings.honestUsd, points, settings);
    if (justified === 0n) withoutPoints += tokens;
    else if (tokens > justified) byPrice += tokens - justified;
    const isBeyond = points > 0 && tokens > tokensAt(settings.lowestUsd, points, settings);
    if (isBeyond) beyondLimits.push(id);
  }
  return { withoutPoints, byPrice, priceBound: priceBound(planned, settings), beyondLimits };
}

export function lossFaults({ withoutPoints, byPrice, priceBound, beyondLimits }: Loss): string[] {
  const faults = beyondLimits.map((id) => `${id} was paid at a price beyond the limits`);
  if (withoutPoints > 0n) faults.push(`${withoutPoints.toString()} were paid for no points`);
  if (byPrice > priceBound) {
    faults.push(
      `wrong prices cost ${byPrice.toString()}, and the settings allow ${priceBound.toString()}`,
    );
  }
  return faults;
}

/**
 * Points worth v USD are paid v / price tokens, of which v / honest are owed. So at most the share 1 - lowest / honest
 * of the paid tokens is lost. The paid tokens are bounded by the points at the lowest price, by each wallet's budget
 * and by each partner's.
 */
function priceBound(planned: PlannedPoints, settings: LossSettings): bigint {
  const { partnerDailyTokens, walletDailyTokens, honestUsd, lowestUsd } = settings;
  const days = BigInt(settings.days);
  const scale = Math.max(honestUsd.scale, lowestUsd.scale);
  const [honest, lowest] = [honestUsd, lowestUsd].map(
    (usd) => usd.digits * 10n ** BigInt(scale - usd.scale),
  ) as [bigint, bigint];
  let bound = 0n;
  for (const wallets of planned) {
    const most = wallets
      .map((points) => smaller(tokensAt(lowestUsd, points, settings), days * walletDailyTokens))
      .reduce((sum, tokens) => sum + tokens, 0n);
    const paid = smaller(most, days * partnerDailyTokens);
    // One unit for each wallet, since amounts are rounded down.
    bound += (paid * (honest - lowest)) / honest + BigInt(wallets.length);
  }
  return bound;
}

function standingPoints(facts: RedemptionFacts | undefined): number {
  const standing = facts?.books.deductions.find(({ reverted }) => !reverted);
  return standing?.points ?? 0;
}

function tokensAt(usd: Decimal, points: number, { rate, tokenDecimals }: LossSettings): bigint {
  return redemptionAmounts(BigInt(points), rate, usd, tokenDecimals).tokenAmount;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
