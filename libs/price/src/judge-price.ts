/** What becomes of a reading: it is stored and used, or held until an operator has accepted a figure near it. */
import { decimalText, type Price, type PriceStore, type StandingPrice } from '#libs/db';
import { type Decimal, parseDecimal } from '#libs/domain';
import { holdReason, type PriceLimits } from './price-limits.js';

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
  store: Pick<PriceStore, 'record' | 'standing' | 'hold'>,
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
