import { describe, expect, it } from '@jest/globals';
import { accountIdText, parseAccountId } from './address.js';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('parseAccountId', () => {
  it('reads chain and address, and writes the address in lower case', () => {
    const id = parseAccountId(`eip155:2741:${ADDRESS}`);
    expect(id).toEqual({ chainId: 2741, address: ADDRESS.toLowerCase() });
    expect(id && accountIdText(id)).toBe(`eip155:2741:${ADDRESS.toLowerCase()}`);
  });

  it.each([
    ADDRESS,
    `1:${ADDRESS}`,
    `EIP155:1:${ADDRESS}`,
    `eip155:01:${ADDRESS}`,
    `eip155:0:${ADDRESS}`,
    `eip155:9999999999999999:${ADDRESS}`,
    `eip155:1:${ADDRESS}0`,
    `eip155:1:${ADDRESS} `,
    'bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6',
    '',
  ])('refuses %s', (text) => {
    expect(parseAccountId(text)).toBeUndefined();
  });
});
