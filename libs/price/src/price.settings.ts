import { ValidateBy, type ValidationArguments } from 'class-validator';
import { type DevelopmentSetting, type SettingOptions } from '#libs/config';
import { compareDecimals, type Decimal, parseDecimal } from '#libs/domain';
import { parseShare, plainPrice } from './plain-price.js';
import { parsePriceSources, type PriceSource } from './price-source.js';

export const PRICE_SOURCE_SETTING: SettingOptions = {
  description:
    'Where the token’s price comes from: none, fixed:<decimal>, chainlink:<feed address> or http:<url>#<JSON pointer>, behind another # the JSON pointer of its time. Several, separated by commas: their median counts, where two of them agree within PRICE_MAX_SPREAD.',
  default: 'none',
  secret: true,
  example: 'none',
  parse: parsePriceSources,
};

export const PRICE_MAX_AGE_SETTING: SettingOptions = {
  description:
    'A price older than this is left out of answers; of several sources, one with an older price does not count.',
  default: '7200',
  min: 1,
};

export const PRICE_MIN_SETTING: SettingOptions = {
  description:
    'US dollars: below this redemptions pause, and snapshots have no price, until an operator accepts it (cli price accept). Unset: no bound.',
  optional: true,
  parse: parseBound,
};

export const PRICE_MAX_SETTING: SettingOptions = {
  description:
    'US dollars: above this redemptions pause, and snapshots have no price, until an operator accepts it. Unset: no bound.',
  optional: true,
  parse: parseBound,
};

export const PRICE_MAX_CHANGE_SETTING: SettingOptions = {
  description:
    'The most that a price may differ from the one before, as a share of it (0.2 is a fifth); beyond that redemptions pause until an operator accepts it.',
  default: '0.2',
  parse: parseShare,
};

export const PRICE_MAX_CHANGE_PER_HOUR_SETTING: SettingOptions = {
  description:
    'The most that a price may differ from each price of the last hour, as a share of it; beyond that redemptions pause until an operator accepts it.',
  default: '0.4',
  parse: parseShare,
};

export const PRICE_MAX_SPREAD_SETTING: SettingOptions = {
  description:
    'Of several sources: how far two may differ, as a share of the lower one, to count as agreed.',
  default: '0.05',
  parse: parseShare,
};

function parseBound(text: string): Decimal {
  const bound = plainPrice(text);
  if (bound.refused !== undefined) {
    throw new Error(`must be a decimal above 0; the one that is set ${bound.refused}`);
  }
  return parseDecimal(bound.price);
}

/** Validates PRICE_MAX_USD: with a maximum below the minimum, every price would be held. */
export function NotBelowMinimum(): PropertyDecorator {
  return ValidateBy({
    name: 'notBelowMinimum',
    validator: {
      validate: (max: Decimal | undefined, args?: ValidationArguments) => {
        const { priceMinUsd: min } = (args?.object ?? {}) as { readonly priceMinUsd?: Decimal };
        return min === undefined || max === undefined || compareDecimals(max, min) >= 0;
      },
      defaultMessage: () => 'must not be below PRICE_MIN_USD',
    },
  });
}

export interface LimitingSettings {
  readonly priceSource?: readonly PriceSource[] | undefined;
  readonly priceMaxChange?: Decimal | undefined;
  readonly priceMaxChangePerHour?: Decimal | undefined;
  readonly priceMaxSpread?: Decimal | undefined;
}

const ALL = parseDecimal('1');

/**
 * @returns the settings that follow no market or limit nothing. A share of 1 or more never holds a falling price,
 * because the price stays above 0
 */
export function looseLimits(settings: LimitingSettings): DevelopmentSetting[] {
  const { priceSource = [], priceMaxChange, priceMaxChangePerHour, priceMaxSpread } = settings;
  const shares = [
    ['PRICE_MAX_CHANGE', priceMaxChange, 'lets a price fall by any share'],
    ['PRICE_MAX_CHANGE_PER_HOUR', priceMaxChangePerHour, 'lets a price fall by any share'],
    ['PRICE_MAX_SPREAD', priceMaxSpread, 'lets sources agree of which one says the double'],
  ] as const;
  return [
    {
      variable: 'PRICE_SOURCE',
      isGiven: priceSource.some(({ kind }) => kind === 'fixed'),
      why: 'a fixed price follows no market',
    },
    ...shares.map(([variable, share, what]) => ({
      variable,
      isGiven: share !== undefined && compareDecimals(share, ALL) >= 0,
      why: `1 or more ${what}. Set it below 1`,
    })),
  ];
}
