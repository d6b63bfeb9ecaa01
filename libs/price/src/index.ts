export { boundsBreach, type HoldReason, storeOrHold, type PriceLimits } from './price-limits.js';
export * from './price-reader.js';
export * from './price.settings.js';
export { nameOfSources, parsePriceSources, type PriceSource } from './price-source.js';
