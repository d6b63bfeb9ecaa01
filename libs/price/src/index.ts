export { type PriceReading } from './combine-prices.js';
export { type JudgedPrice, judgePrice } from './judge-price.js';
export {
  boundsBreach,
  type BoundsBreach,
  type HoldReason,
  holdReason,
  type PriceBounds,
  type PriceLimits,
  type StandingPrices,
} from './price-limits.js';
export { looseLimits } from './loose-limits.js';
export { NotBelowMinimum } from './not-below.js';
export {
  type PriceReader,
  type PriceReaderParts,
  priceReader,
  type SourceReading,
} from './price-reader.js';
export {
  PRICE_MAX_AGE_SETTING,
  PRICE_MAX_CHANGE_PER_HOUR_SETTING,
  PRICE_MAX_CHANGE_SETTING,
  PRICE_MAX_SETTING,
  PRICE_MAX_SPREAD_SETTING,
  PRICE_MIN_SETTING,
  PRICE_SOURCE_SETTING,
} from './price-settings.js';
export {
  nameOfSource,
  nameOfSources,
  parsePriceSources,
  type PriceSource,
} from './price-source.js';
export { PriceRefusedError, PriceUnavailableError } from './price.errors.js';
export { isWithinShare } from './share.js';
