/** The Nest token of what PriceService works with. */
export const PRICE_PARTS = Symbol('PriceParts');
