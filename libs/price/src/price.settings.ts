import { type DevelopmentSetting, type SettingOptions } from '#libs/config';
import { compareDecimals, type Decimal, parseDecimal } from '#libs/domain';
import { parseShare, plainPrice } from './plain-price.js';
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
    'The lowest and the highest believable price in US dollars, such as 0.05..5: beyond them redemptions pause, and snapshots have no price, until an operator accepts it (cli price accept). Unset: no bounds, and an operator accepts the first price.',
  optional: true,
  parse: parseBounds,
};

export const PRICE_MAX_CHANGE_SETTING: SettingOptions = {
  description:
    'The most that a price may differ from the one before, as a share of it (0.2 is a fifth), and twice that from any price of the last hour. Beyond it redemptions pause until an operator accepts the price.',
  default: '0.2',
  parse: parseShare,
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

export interface LimitingSettings {
  readonly priceSource?: readonly PriceSource[] | undefined;
  readonly priceMaxChange?: Decimal | undefined;
}

/** From here on the change of an hour, twice as much, lets a price fall by any share, because it stays above 0. */
const LOOSE = parseDecimal('0.5');

/** @returns the settings that follow no market or limit nothing */
export function looseLimits(settings: LimitingSettings): DevelopmentSetting[] {
  const { priceSource = [], priceMaxChange } = settings;
  return [
    {
      variable: 'PRICE_SOURCE',
      isGiven: priceSource.some(({ kind }) => kind === 'fixed'),
      why: 'a fixed price follows no market',
    },
    {
      variable: 'PRICE_MAX_CHANGE',
      isGiven: priceMaxChange !== undefined && compareDecimals(priceMaxChange, LOOSE) >= 0,
      why: '0.5 or more lets a price fall by any share within an hour. Set it below 0.5',
    },
  ];
}
