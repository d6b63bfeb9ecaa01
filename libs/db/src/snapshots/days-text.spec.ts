import { describe, expect, it } from '@jest/globals';
import { isDaysText, walletDaysFrom } from './snapshot-store.js';

describe('the text of days', () => {
  it.each(['[]', '[[20000,null,"5"]]', '[[20000,"0","5"],[19999,"12","12"]]', '[[-1,null,"0"]]'])(
    '%s is one',
    (text) => {
      expect(isDaysText(text)).toBe(true);
    },
  );

  it('is read with amounts of any size', () => {
    const most = (2n ** 256n - 1n).toString();
    expect(walletDaysFrom(`[[20000,null,"${most}"],[7,"3","4"]]`)).toEqual([
      { day: 20_000, low: null, closing: 2n ** 256n - 1n },
      { day: 7, low: 3n, closing: 4n },
    ]);
  });

  it.each([
    '',
    '{}',
    'null',
    '[[20000,null,"5"],]',
    '[,[20000,null,"5"]]',
    '[[20000,null,"5"][1,null,"5"]]',
    '[[20000,null,5]]',
    '[[20000,null,"-5"]]',
    '[[20000,null,"5","6"]]',
    '[[2e4,null,"5"]]',
    '[[20000,undefined,"5"]]',
    `[[20000,null,"${'9'.repeat(79)}"]]`,
    '[[20000,null,"5"]]\n',
  ])('%j is none', (text) => {
    expect(isDaysText(text)).toBe(false);
  });
});
