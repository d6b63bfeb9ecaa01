import { describe, expect, it } from '@jest/globals';
import { network } from './network.js';

describe('the setting CONSOLE_NETWORK', () => {
  it.each([
    ['Base, ETH, https://mainnet.base.org', ['Base', 'ETH', 'https://mainnet.base.org']],
    [' Local chain,ETH ,http://127.0.0.1:8545 ', ['Local chain', 'ETH', 'http://127.0.0.1:8545']],
    ['Base, ETH, https://rpc.example/?a=1,2', ['Base', 'ETH', 'https://rpc.example/?a=1,2']],
    ['Polygon PoS, POL', ['Polygon PoS', 'POL', null]],
  ])('reads %j', (text, [name, coin, rpcUrl]) => {
    expect(network(text)).toEqual({ name, coin, rpcUrl });
  });

  it.each([
    ['no coin', 'Base'],
    ['an empty name', ', ETH'],
    ['an empty coin', 'Base, , https://mainnet.base.org'],
    ['a coin that is too long', 'Base, ETHEREUMCOIN'],
    ['a name that is too long', `${'B'.repeat(41)}, ETH`],
    ['a blank in the URL', 'Base, ETH, https://mainnet.base.org more'],
    ['an empty URL', 'Base, ETH,'],
  ])('refuses %s', (_, text) => {
    expect(() => network(text)).toThrow('must be a name of up to 40 characters, a coin of up to');
  });

  it('refuses an RPC URL of another scheme', () => {
    expect(() => network('Base, ETH, ftp://mainnet.base.org')).toThrow(/must be an? .*https:/);
  });
});
