/** What a refused creation tells its user besides the reason. */
import { LimitBreachedError } from '#libs/db';
import { pointsWithin, type RedemptionLimits, type RedemptionQuote } from '#libs/domain';
import { limitError } from '../http/to-user-error.js';
import { UserError } from '../http/user.error.js';

/** Those that do not say already what is wrong with the request itself. */
const NOT_NOW: readonly number[] = [409, 502, 503];

/** That no points were taken. Only of what was refused before anything was written: of other errors it would be a guess. */
export function withNothingTaken(error: unknown): unknown {
  const refused = error instanceof LimitBreachedError ? limitError(error.breach) : error;
  if (!(refused instanceof UserError) || !NOT_NOW.includes(refused.status)) return refused;
  const { status, code, message, retryAfterSeconds, cause } = refused;
  return new UserError(status, code, `${message} No points were taken for this request.`, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** How many points could be redeemed today, at the price of the quote, where a day's budget was too small. */
export function withPointsLeft(
  error: unknown,
  quote: RedemptionQuote,
  { minPoints = 1n }: Pick<RedemptionLimits, 'minPoints'>,
): unknown {
  if (!(error instanceof LimitBreachedError)) return error;
  const { tokensLeft, ...breach } = error.breach;
  if (tokensLeft === undefined) return error;
  const points = pointsWithin(tokensLeft, quote);
  const left =
    points < minPoints
      ? 'Nothing more can be redeemed today.'
      : `At most ${points.toString()} points could be redeemed now.`;
  return new LimitBreachedError({ ...breach, message: `${breach.message} ${left}` });
}
