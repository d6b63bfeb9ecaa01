/** The limits that a price must keep to be used without an operator, and what happens to a price that breaks them. */
import { decimalText, type Price, type PriceStore, type PriceReference } from '#libs/db';
import { compareDecimals, type Decimal, parseDecimal } from '#libs/domain';
import { isWithinShare } from './plain-price.js';

/** PRICE_BOUNDS_USD: the lowest and the highest price. */
export interface PriceBounds {
  readonly min: Decimal;
  readonly max: Decimal;
}

export interface PriceLimits {
  readonly bounds?: PriceBounds | undefined;
  /** The largest change from the previous price, as a share of it. */
  readonly maxChange: Decimal;
  /** Whether the price is the operator's own figure, which only the bounds hold. */
  readonly isOwn: boolean;
}

/** The prices that a new price is compared with. */
export interface StandingPrices {
  /** The previous price: the newest stored price, or a price that an operator accepted later. */
  readonly before?: Decimal | undefined;
  /** The lowest and the highest price of the last hour, or of the time since an operator accepted a price. */
  readonly lowest?: Decimal | undefined;
  readonly highest?: Decimal | undefined;
  /** The price that an operator accepted last, however long ago. */
  readonly accepted?: Decimal | undefined;
}

/**
 * `first`: there is no previous price, and PRICE_BOUNDS_USD is not set. `jump`: too far from the previous price.
 * `drift`: too far from a price of the last hour.
 */
export type HoldReason = 'first' | BoundsBreach | 'jump' | 'drift';
export type BoundsBreach = 'below-minimum' | 'above-maximum';

/**
 * Whether a price is outside the bounds. A price outside the bounds that an operator has accepted widens them to that
 * price.
 */
export function boundsBreach(
  price: Decimal,
  bounds: PriceBounds | undefined,
  accepted: Decimal | undefined,
): BoundsBreach | undefined {
  if (bounds === undefined) return undefined;
  const isBeyond = (side: -1 | 1, bound: Decimal): boolean =>
    [bound, accepted ?? bound].every((one) => compareDecimals(price, one) === side);
  if (isBeyond(-1, bounds.min)) return 'below-minimum';
  return isBeyond(1, bounds.max) ? 'above-maximum' : undefined;
}

/** A fifth. From a half on, the change of an hour, twice as much, would let a price fall by any share. */
export const MAX_CHANGE = parseDecimal('0.2');

/** The largest change from each price of the last hour: twice that from the previous price. */
export function maxChangePerHour({ maxChange }: PriceLimits): Decimal {
  return { ...maxChange, digits: maxChange.digits * 2n };
}

/** Why a price is not used before an operator has accepted it; undefined where it is used. */
export function holdReason(
  price: Decimal,
  limits: PriceLimits,
  { before, lowest, highest, accepted }: StandingPrices,
): HoldReason | undefined {
  const outside = boundsBreach(price, limits.bounds, accepted);
  if (outside !== undefined) return outside;
  if (limits.isOwn) return undefined;
  if (before === undefined) return limits.bounds === undefined ? 'first' : undefined;
  if (!isWithinShare(price, before, limits.maxChange)) return 'jump';
  const perHour = maxChangePerHour(limits);
  const drifts = [lowest, highest].some(
    (other) => other !== undefined && !isWithinShare(price, other, perHour),
  );
  return drifts ? 'drift' : undefined;
}

export type JudgedPrice =
  /** `isStored` is false where the source has already given a newer price. */
  | { readonly kind: 'kept'; readonly isStored: boolean }
  | {
      readonly kind: 'held';
      readonly reason: string;
      /** The price that was in use when the hold began. */
      readonly beforeUsd: string | undefined;
    };

/**
 * Stores the price or holds it. A hold ends with a price that keeps the limits after an operator has accepted a price,
 * not before.
 * @param fence fencing token of the leader that read the price
 * @throws FencedError where another process is the leader by now
 */
export async function storeOrHold(
  store: PriceStore,
  limits: PriceLimits,
  fence: bigint,
  price: Price,
): Promise<JudgedPrice> {
  const standing = await store.standing();
  const { hold, beforeUsd } = standing;
  const judged = holdReason(parseDecimal(price.usd), limits, decimalsOf(standing));
  const reason = hold?.isAccepted === false ? hold.reason : judged;
  if (reason === undefined) {
    return { kind: 'kept', isStored: await store.record(fence, price) };
  }
  const isNewHold = hold?.isAccepted === true;
  const maxChange = decimalText(limits.maxChange);
  await store.hold(fence, { price, reason, beforeUsd, maxChange, isNewHold });
  const isOld = hold !== undefined && !isNewHold;
  return { kind: 'held', reason, beforeUsd: isOld ? hold.beforeUsd : beforeUsd };
}

function decimalsOf(standing: PriceReference) {
  const of = (text: string | undefined): Decimal | undefined =>
    text === undefined ? undefined : parseDecimal(text);
  return {
    before: of(standing.beforeUsd),
    lowest: of(standing.lowestUsd),
    highest: of(standing.highestUsd),
    accepted: of(standing.acceptedUsd),
  };
}
