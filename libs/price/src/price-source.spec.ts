import { describe, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { nameOfSource, nameOfSources, parsePriceSources } from './price-source.js';
import { fixedPrice, PRICE_BOUNDS_SETTING } from './price.settings.js';

const FEED = '0x5F4eC3Df9cbd43714FE2740f5E3616155c5b8419';
const URL = 'https://u:p@prices.example/v1?ids=a,b&key=k';

describe('parsePriceSources', () => {
  it.each([
    ['none', []],
    ['fixed:0.00012', [{ kind: 'fixed', usd: '0.00012' }]],
    ['fixed:1e-7', [{ kind: 'fixed', usd: '0.0000001' }]],
    [`chainlink:${FEED}`, [{ kind: 'chainlink', feed: FEED.toLowerCase() }]],
    [`http:${URL}#/data/0/us~1d`, [{ kind: 'http', url: URL, pointer: '/data/0/us~1d' }]],
    ['http:http://127.0.0.1:1/x', [{ kind: 'http', url: 'http://127.0.0.1:1/x', pointer: '' }]],
    [
      `http:${URL}#/a,http/usd#/a/updated%20at`,
      [{ kind: 'http', url: URL, pointer: '/a,http/usd', timePointer: '/a/updated at' }],
    ],
    [
      `http:${URL}#/usd, chainlink:${FEED},fixed:2,http:http://127.0.0.1:1#/x#/t`,
      [
        { kind: 'http', url: URL, pointer: '/usd' },
        { kind: 'chainlink', feed: FEED.toLowerCase() },
        { kind: 'fixed', usd: '2' },
        { kind: 'http', url: 'http://127.0.0.1:1', pointer: '/x', timePointer: '/t' },
      ],
    ],
  ])('%s', (text, sources) => {
    expect(parsePriceSources(text)).toEqual(sources);
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
    ['http:https://prices.example#/usd#time', 'must have the JSON pointer of the time'],
    ['http:https://prices.example#/usd#/time#/more', 'must have two JSON pointers at most'],
    ['fixed:1,none', 'must be none, fixed:'],
    ['fixed:1,fixed:2', 'must not name a source twice'],
    [`chainlink:${FEED},chainlink:${FEED.toLowerCase()}`, 'must not name a source twice'],
    [
      Array.from({ length: 10 }, (_, at) => `http:http://127.0.0.1:${at + 1}`).join(','),
      'must name 9 sources at most',
    ],
  ])('refuses %j', (text, message) => {
    expect(() => parsePriceSources(text)).toThrow(message);
  });

  it('names a source without its credentials, wherever they are, and two of one host apart', () => {
    const name = (url: string): string => nameOfSources(parsePriceSources(`http:${url}#/usd`));
    const urls = ['u:p@prices.example/v1', 'prices.example/v6/KEY/latest', 'prices.example/?key=k'];
    const names = urls.map((url) => name(`https://${url}`));
    for (const one of names) {
      expect(one).toMatch(/^http:https:\/\/prices\.example#\/usd \([0-9a-f]{6}\)$/);
    }
    expect(new Set(names).size).toBe(urls.length);
    expect(name('https://prices.example/v6/KEY/latest')).toBe(names[1]);
    const several = parsePriceSources(`fixed:1,http:https://${urls[0] ?? ''}#/usd`);
    expect(nameOfSources(several)).toBe(`fixed, ${names[0] ?? ''}`);
    expect(several.map(nameOfSource)).toEqual(['fixed', names[0]]);
    expect(nameOfSources([])).toBe('none');
  });
});

describe('fixedPrice', () => {
  it('is given if a fixed price is among the sources', () => {
    expect(fixedPrice(parsePriceSources('fixed:0.15')).isGiven).toBe(true);
    expect(fixedPrice([]).isGiven).toBe(false);
  });
});

describe('PRICE_BOUNDS_USD', () => {
  const parse = PRICE_BOUNDS_SETTING.parse as (text: string) => unknown;

  it.each(['0.05..5', ' 0.05 .. 5 ', '0.050..5.0'])(
    'is the lowest and the highest price: %j',
    (text) => {
      expect(parse(text)).toEqual({ min: parseDecimal('0.05'), max: parseDecimal('5') });
    },
  );

  it('may be one price', () => {
    expect(parse('1..1')).toEqual({ min: parseDecimal('1'), max: parseDecimal('1') });
  });

  it.each([
    ['0.05', 'must be the lowest and the highest price'],
    ['0.05..1..5', 'must be the lowest and the highest price'],
    ['0.05...5', 'the highest price'],
    ['5..0.05', 'must have the lowest price first'],
    ['0..5', 'the lowest price'],
    ['-1..5', 'the lowest price'],
    ['0.05..', 'the highest price'],
    ['..5', 'the lowest price'],
    ['0.05..NaN', 'the highest price'],
    ['0.05..1e999', 'the highest price'],
  ])('refuses %s', (text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });
});
