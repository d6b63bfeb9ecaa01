/** What a price must keep within to be used without a person, and what becomes of one that does not. */
import { decimalText, type Price, type PriceStore, type StandingPrice } from '#libs/db';
import { compareDecimals, type Decimal, parseDecimal } from '#libs/domain';
import { isWithinShare } from './plain-price.js';

export interface PriceBounds {
  /** PRICE_MIN_USD; absent: none. */
  readonly min?: Decimal | undefined;
  /** PRICE_MAX_USD; absent: none. */
  readonly max?: Decimal | undefined;
}

export interface PriceLimits extends PriceBounds {
  /** PRICE_MAX_CHANGE: 0.2 is a fifth of the price before. */
  readonly maxChange: Decimal;
  /** PRICE_MAX_CHANGE_PER_HOUR, against each price of the last hour. */
  readonly maxChangePerHour: Decimal;
  /** The first price of all is the operator's own figure. */
  readonly trustsFirst: boolean;
}

/** What is known when a price is read. */
export interface StandingPrices {
  /** The price before: the newest that was stored or, where that came later, accepted by an operator. */
  readonly before?: Decimal | undefined;
  /** The lowest and the highest of the last hour, or of the time since an operator has accepted one. */
  readonly lowest?: Decimal | undefined;
  readonly highest?: Decimal | undefined;
  /** What an operator has accepted last, however long ago. */
  readonly accepted?: Decimal | undefined;
}

/**
 * `first`: there is nothing to compare it with, and PRICE_MIN_USD and PRICE_MAX_USD are not both set. `jump`: too far from the price
 * before. `drift`: too far from one of the last hour.
 */
export type HoldReason = 'first' | BoundsBreach | 'jump' | 'drift';
export type BoundsBreach = 'below-minimum' | 'above-maximum';

/** Whether a price lies outside of the bounds. A figure that an operator has accepted outside of them widens them, to that figure. */
export function boundsBreach(
  price: Decimal,
  { min, max }: PriceBounds,
  accepted: Decimal | undefined,
): BoundsBreach | undefined {
  if (isBeyond(-1, price, min) && (accepted === undefined || isBeyond(-1, price, accepted))) {
    return 'below-minimum';
  }
  const isAbove =
    isBeyond(1, price, max) && (accepted === undefined || isBeyond(1, price, accepted));
  return isAbove ? 'above-maximum' : undefined;
}

/** @param side -1: below the bound, 1: above it; a bound that is absent has nothing beyond it */
function isBeyond(side: -1 | 1, price: Decimal, bound: Decimal | undefined): boolean {
  return bound !== undefined && compareDecimals(price, bound) === side;
}

/** Why a price is not used before an operator has accepted it; undefined where it is used. */
export function holdReason(
  price: Decimal,
  limits: PriceLimits,
  { before, lowest, highest, accepted }: StandingPrices,
): HoldReason | undefined {
  const outside = boundsBreach(price, limits, accepted);
  if (outside !== undefined) return outside;
  const { min, max, maxChange, maxChangePerHour, trustsFirst } = limits;
  if (before === undefined) {
    const isBounded = min !== undefined && max !== undefined;
    return isBounded || trustsFirst ? undefined : 'first';
  }
  if (!isWithinShare(price, before, maxChange)) return 'jump';
  const drifts = [lowest, highest].some(
    (other) => other !== undefined && !isWithinShare(price, other, maxChangePerHour),
  );
  return drifts ? 'drift' : undefined;
}

export type JudgedPrice =
  /** `isStored` is false where its source has told a newer price before. */
  | { readonly kind: 'kept'; readonly isStored: boolean }
  | {
      readonly kind: 'held';
      readonly reason: string;
      /** The price that was in use when the hold began. */
      readonly beforeUsd: string | undefined;
    };

/**
 * Stores it or holds it. A hold ends by a price that keeps within the limits after an operator has accepted one, not before.
 * @param fence of the lead that it was read under
 * @throws FencedError where another leads by now
 */
export async function judgePrice(
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
  const isAnew = hold?.isAccepted === true;
  const maxChange = decimalText(limits.maxChange);
  await store.hold(fence, { price, reason, beforeUsd, maxChange, isAnew });
  const isOld = hold !== undefined && !isAnew;
  return { kind: 'held', reason, beforeUsd: isOld ? hold.beforeUsd : beforeUsd };
}

function decimalsOf(standing: StandingPrice) {
  const of = (text: string | undefined): Decimal | undefined =>
    text === undefined ? undefined : parseDecimal(text);
  return {
    before: of(standing.beforeUsd),
    lowest: of(standing.lowestUsd),
    highest: of(standing.highestUsd),
    accepted: of(standing.acceptedUsd),
  };
}
