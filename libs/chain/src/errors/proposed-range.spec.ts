import { describe, expect, it } from '@jest/globals';
import { proposedTo } from './classify-rpc-error.js';

const asked = { from: 100n, to: 10_000n };

describe('the range that a node proposes', () => {
  it.each([
    ['this block range should work: [0x64, 0xc8]', 200n],
    ['try with this block range [0x64,0xc8].', 200n],
    ['query exceeds max results 20000, retry with the range 100-200', 200n],
    ['range 1000000 exceeds limit of 1000', 1_099n],
    ['range 9009594 is bigger than range limit 2000', 2_099n],
    ['eth_getlogs is limited to a 1,000 range', 1_099n],
    ['you can make eth_getlogs requests with up to a 10 block range', 109n],
    ['up to a 2k block range', 2_099n],
    ['query exceeds max block range 5000', 5_099n],
    ['exceed maximum block range: 5000', 5_099n],
    ['requested too many blocks from 0 to 5000000, maximum is set to 1024', 1_123n],
    ['block range = 5120, max block range = 5000', 5_099n],
    ['maximum [from, to] blocks distance: 1000', 1_099n],
    ['`fromblock`-`toblock` range too large. max range: 800', 899n],
    ['requested block range 801 exceeds the limit of 200', 299n],
    ['requested range is over limit of 100', 199n],
    ['eth_getlogs is limited to 1024 block range', 1_123n],
    ['eth_getlogs and eth_newfilter are limited to a 1,000 blocks range', 1_099n],
    ['logs are limited to a 1000 block range', 1_099n],
    ['query exceeds max block range of 1000', 1_099n],
    ['block range is too wide (maximum 1024)', 1_123n],
  ])('%s', (text, expected) => {
    expect(proposedTo(text, undefined, asked)).toBe(expected);
  });

  it('is read from the data too', () => {
    expect(proposedTo('no', { from: '0x64', to: '0xC8', limit: 10000 }, asked)).toBe(200n);
  });

  it.each([
    ['the same range again', 'retry with the range 100-10000'],
    ['a larger one', '[0x64, 0xffffff]'],
    ['one that begins elsewhere', '[0x0, 0xc8]'],
    ['one that ends before it begins', '[0x64, 0x1]'],
    ['a limit in results', 'query returned more than 1000 results'],
    ['a limit in logs', 'max 1000 logs'],
    ['nothing', 'block range is too wide'],
    ['a limit that is not below what was asked', 'query exceeds max block range 50000'],
  ])('is not believed where it is %s', (_case, text) => {
    expect(proposedTo(text, undefined, asked)).toBeUndefined();
  });
});
