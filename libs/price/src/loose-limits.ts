import { type DevelopmentSetting } from '#libs/config';
import { type Decimal, parseDecimal } from '#libs/domain';
import { type PriceSource } from './price-source.js';
import { comparePrices } from './share.js';

export interface LimitingSettings {
  readonly priceSource?: readonly PriceSource[] | undefined;
  readonly priceMaxChange?: Decimal | undefined;
  readonly priceMaxChangePerHour?: Decimal | undefined;
  readonly priceMaxSpread?: Decimal | undefined;
}

const ALL = parseDecimal('1');

/** @returns what of the price's settings follows no market, or limits nothing: a price that falls by all of itself is still above 0 */
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
      isGiven: share !== undefined && comparePrices(share, ALL) >= 0,
      why: `1 or more ${what}. Set it below 1`,
    })),
  ];
}
