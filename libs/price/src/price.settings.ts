import { type DevelopmentSetting, type SettingOptions } from '#libs/config';
import { compareDecimals, type Decimal, parseDecimal } from '#libs/domain';
import { plainPrice } from './plain-price.js';
import { type PriceBounds } from './price-limits.js';
import { parsePriceSources, type PriceSource } from './price-source.js';

export const PRICE_SOURCE_SETTING: SettingOptions = {
  description:
    'Where the token’s price comes from: none, fixed:<decimal>, chainlink:<feed address> or http:<url>#<JSON pointer>, behind another # the JSON pointer of its time. Several, separated by commas: their median counts, if two of them differ by 5 % at most.',
  default: 'none',
  secret: true,
  example: 'none',
  parse: parsePriceSources,
};

export const PRICE_BOUNDS_SETTING: SettingOptions = {
  description:
    'The lowest and the highest believable price in US dollars, such as 0.05..5. A price beyond them is held until an operator accepts it (cli price accept). Unset: no bounds, and an operator accepts the first price.',
  optional: true,
  parse: parseBounds,
};

function parseBounds(text: string): PriceBounds {
  const [low, high, ...more] = text.split('..');
  if (low === undefined || high === undefined || more.length > 0) {
    throw new Error('must be the lowest and the highest price, such as 0.05..5');
  }
  const bounds = { min: parseBound('lowest', low), max: parseBound('highest', high) };
  if (compareDecimals(bounds.max, bounds.min) < 0) {
    throw new Error('must have the lowest price first, such as 0.05..5');
  }
  return bounds;
}

function parseBound(which: string, text: string): Decimal {
  const bound = plainPrice(text.trim());
  if (bound.refused !== undefined) {
    throw new Error(
      `must be two decimals above 0, such as 0.05..5; the ${which} price ${bound.refused}`,
    );
  }
  return parseDecimal(bound.price);
}

/** What production refuses of the sources of the price. */
export function fixedPrice(sources: readonly PriceSource[] = []): DevelopmentSetting {
  return {
    variable: 'PRICE_SOURCE',
    isGiven: sources.some(({ kind }) => kind === 'fixed'),
    why: 'a fixed price follows no market',
  };
}
