export {
  boundsBreach,
  type HoldReason,
  MAX_CHANGE,
  maxChangePerHour,
  type PriceBounds,
  type PriceLimits,
  storeOrHold,
} from './price-limits.js';
export * from './price-reader.js';
export * from './price.settings.js';
export { nameOfSources, parsePriceSources, type PriceSource } from './price-source.js';
