export { isWithinShare } from './plain-price.js';
export {
  boundsBreach,
  type BoundsBreach,
  type HoldReason,
  holdReason,
  type JudgedPrice,
  judgePrice,
  type PriceBounds,
  type PriceLimits,
  type StandingPrices,
} from './price-limits.js';
export {
  type PriceReader,
  type PriceReaderOptions,
  type PriceReading,
  priceReader,
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
export {
  nameOfSource,
  nameOfSources,
  parsePriceSources,
  PriceRefusedError,
  type PriceSource,
  PriceUnavailableError,
} from './price-source.js';
