import {
  type LimitBreach,
  pointsWithin,
  type RedemptionLimits,
  type RedemptionQuote,
} from '#libs/domain';

/** How many points could be redeemed today, at the price of the quote, where a day's budget was too small. */
export function withPointsLeft(
  { tokensLeft, ...breach }: LimitBreach,
  quote: RedemptionQuote,
  { minPoints = 1n }: RedemptionLimits,
): LimitBreach {
  if (tokensLeft === undefined) return breach;
  const points = pointsWithin(tokensLeft, quote);
  const left =
    points < minPoints
      ? 'Nothing more can be redeemed today.'
      : `At most ${points.toString()} points could be redeemed now.`;
  return { ...breach, message: `${breach.message} ${left}` };
}
