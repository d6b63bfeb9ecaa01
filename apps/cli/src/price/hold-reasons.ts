/** Why a price is held, for operators; by the reasons of libs/price. */
export const HELD_BECAUSE: Readonly<Record<string, string>> = {
  first: 'it is the first price, and PRICE_MIN_USD and PRICE_MAX_USD are not both set',
  'below-minimum': 'it is below PRICE_MIN_USD',
  'above-maximum': 'it is above PRICE_MAX_USD',
  jump: 'it differs from the one before by more than PRICE_MAX_CHANGE',
  drift: 'it differs from one of the last hour by more than PRICE_MAX_CHANGE_PER_HOUR',
};
