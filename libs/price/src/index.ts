export { boundsBreach, type HoldReason, judgePrice, type PriceLimits } from './price-limits.js';
export {
  type PriceReader,
  priceReader,
  type PriceReading,
  type SourceReading,
} from './price-reader.js';
export {
  looseLimits,
  NotBelowMinimum,
  PRICE_MAX_AGE_SETTING,
  PRICE_MAX_CHANGE_PER_HOUR_SETTING,
  PRICE_MAX_CHANGE_SETTING,
  PRICE_MAX_SETTING,
  PRICE_MAX_SPREAD_SETTING,
  PRICE_MIN_SETTING,
  PRICE_SOURCE_SETTING,
} from './price.settings.js';
export { nameOfSources, parsePriceSources, type PriceSource } from './price-source.js';
