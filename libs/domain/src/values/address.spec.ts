import { describe, expect, it } from '@jest/globals';
import { type Address, accountIdText, isUnheldAddress, parseAccountId } from './address.js';

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

describe('isUnheldAddress', () => {
  const low = (digits: string): Address => `0x${digits.padStart(40, '0')}` as Address;
  const high = (digits: string): Address => `0x${digits.padEnd(40, '0')}` as Address;

  it.each([
    ['zero', low('')],
    ['ecrecover', low('1')],
    ['P256VERIFY', low('100')],
    ['ArbSys', low('64')],
    ['ArbOS', low('a4b05')],
    ['the staking contract of BNB Chain', low('2002')],
    ['the token of Polygon', low('1010')],
    ['the bootloader of ZK Stack', low('8001')],
    ['burned tokens', low('dead')],
    ['the allow list of Avalanche', `0x02${'0'.repeat(38)}` as Address],
    ['the WETH of OP Stack', `0x42${'0'.repeat(34)}0006` as Address],
    ['the gas oracle of Scroll', `0x53${'0'.repeat(34)}0002` as Address],
    ['a contract of Taiko', `0x1670${'0'.repeat(31)}10001` as Address],
    ['the coin of the chain', `0x${'e'.repeat(40)}` as Address],
    ['the last address', `0x${'f'.repeat(40)}` as Address],
    ['a vanity burn address', high('dead')],
  ])('is true of %s', (_, address) => {
    expect(isUnheldAddress(address)).toBe(true);
  });

  it('is true of the contracts of the installation', () => {
    const vault = ADDRESS.toLowerCase() as Address;
    expect(isUnheldAddress(vault)).toBe(false);
    expect(isUnheldAddress(vault, [vault])).toBe(true);
  });

  it('is false of an address with six leading zeros, as people search for them', () => {
    expect(isUnheldAddress(`0x000000000000${'9c'.repeat(14)}` as Address)).toBe(false);
    expect(isUnheldAddress(`0x00000000${'0'.repeat(20)}9c9c9c9c9c9c` as Address)).toBe(false);
  });
});
