export { boundsBreach, type HoldReason, judgePrice, type PriceLimits } from './price-limits.js';
export * from './price-reader.js';
export * from './price.settings.js';
export { nameOfSources, parsePriceSources, type PriceSource } from './price-source.js';
