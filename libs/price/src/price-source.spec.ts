import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nameOfSource, parsePriceSource, plainPrice, scaledPrice } from './price-source.js';

const FEED = '0x5F4eC3Df9cbd43714FE2740f5E3616155c5b8419';

describe('parsePriceSource', () => {
  it.each([
    ['none', { kind: 'none' }],
    ['fixed:0.00012', { kind: 'fixed', usd: '0.00012' }],
    ['fixed:1e-7', { kind: 'fixed', usd: '0.0000001' }],
    [`chainlink:${FEED}`, { kind: 'chainlink', feed: FEED.toLowerCase() }],
    [
      'http:https://u:p@prices.example/v1?key=k#/data/0/us~1d',
      { kind: 'http', url: 'https://u:p@prices.example/v1?key=k', pointer: '/data/0/us~1d' },
    ],
    ['http:http://127.0.0.1:1/x', { kind: 'http', url: 'http://127.0.0.1:1/x', pointer: '' }],
  ])('%s', (text, source) => {
    expect(parsePriceSource(text)).toEqual(source);
  });

  it.each([
    ['', 'must be none, fixed:'],
    ['None', 'must be none, fixed:'],
    ['https://prices.example#/usd', 'must be none, fixed:'],
    ['fixed:', 'has a fixed price that is not a decimal number'],
    ['fixed:0', 'has a fixed price that is zero'],
    ['fixed:-1', 'has a fixed price that is negative'],
    ['fixed:NaN', 'has a fixed price that is not a decimal number'],
    ['chainlink:0x12', 'must name the feed'],
    ['http://prices.example#/usd', 'must have a whole URL after http:'],
    ['http:ftp://prices.example#/usd', 'must have a whole URL after http:'],
    ['http:https://prices.example#usd', 'must have a JSON pointer'],
  ])('refuses %j', (text, message) => {
    expect(() => parsePriceSource(text)).toThrow(message);
  });

  it('names a source without its credentials, wherever they are, and two of one host apart', () => {
    const name = (url: string): string => nameOfSource(parsePriceSource(`http:${url}#/usd`));
    const urls = ['u:p@prices.example/v1', 'prices.example/v6/KEY/latest', 'prices.example/?key=k'];
    const names = urls.map((url) => name(`https://${url}`));
    for (const one of names) {
      expect(one).toMatch(/^http:https:\/\/prices\.example#\/usd \([0-9a-f]{6}\)$/);
    }
    expect(new Set(names).size).toBe(urls.length);
    expect(name('https://prices.example/v6/KEY/latest')).toBe(names[1]);
  });
});

describe('plainPrice', () => {
  it.each([
    ['1', '1'],
    ['007.50', '7.5'],
    ['0.1', '0.1'],
    ['1.5e3', '1500'],
    ['12E-3', '0.012'],
    ['1e+2', '100'],
    ['0.000000000000000000000000000000000001', '0.000000000000000000000000000000000001'],
  ])('%s is %s', (text, price) => {
    expect(plainPrice(text)).toEqual({ price });
  });

  it.each([
    ['0', 'is zero'],
    ['0.000', 'is zero'],
    ['0e5', 'is zero'],
    ['-0.1', 'is negative'],
    ['NaN', 'is not a decimal number'],
    ['Infinity', 'is not a decimal number'],
    ['1,5', 'is not a decimal number'],
    ['0x10', 'is not a decimal number'],
    ['', 'is not a decimal number'],
    ['1e16', 'is absurdly high'],
    ['1e-37', 'is absurdly precise'],
    [`0.${'1'.repeat(40)}`, 'is absurdly precise'],
    ['1'.repeat(101), 'is not a decimal number'],
  ])('%s %s', (text, refused) => {
    expect(plainPrice(text)).toEqual({ refused });
  });

  it('agrees with exact arithmetic for every scaled answer of a feed', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 30n), fc.integer({ min: 0, max: 36 }), (digits, scale) => {
        const { price, refused } = { price: undefined, ...scaledPrice(digits, scale) };
        if (price === undefined) {
          expect(refused).toBe('is absurdly high');
          expect(digits / 10n ** BigInt(scale)).toBeGreaterThan(10n ** 15n - 1n);
          return;
        }
        const [whole = '', fraction = ''] = price.split('.');
        expect(BigInt(whole + fraction.padEnd(scale, '0'))).toBe(digits);
      }),
    );
  });
});
