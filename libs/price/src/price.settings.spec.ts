import { describe, expect, it } from '@jest/globals';
import { parseShare } from './plain-price.js';
import { looseLimits } from './price.settings.js';
import { parsePriceSources } from './price-source.js';

const given = (settings: Parameters<typeof looseLimits>[0]): string[] =>
  looseLimits(settings)
    .filter(({ isGiven }) => isGiven)
    .map(({ variable }) => variable);

describe('looseLimits', () => {
  it.each([
    ['priceMaxChange', 'PRICE_MAX_CHANGE'],
    ['priceMaxChangePerHour', 'PRICE_MAX_CHANGE_PER_HOUR'],
    ['priceMaxSpread', 'PRICE_MAX_SPREAD'],
  ])('are %s of 1 or more', (property, variable) => {
    for (const share of ['1', '1.0', '999']) {
      expect(given({ [property]: parseShare(share) })).toEqual([variable]);
    }
    for (const share of ['0.999999999', '0.2']) {
      expect(given({ [property]: parseShare(share) })).toEqual([]);
    }
  });

  it('are a fixed price among the sources', () => {
    expect(given({ priceSource: parsePriceSources('fixed:0.15') })).toEqual(['PRICE_SOURCE']);
    expect(given({ priceSource: [] })).toEqual([]);
  });
});
