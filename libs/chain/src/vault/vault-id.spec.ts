import { describe, expect, it } from '@jest/globals';
import { redemptionIdOf, vaultIdOf } from './vault-event.js';

const UUID = '0199d8f2-6c1a-7b3e-9f00-c0ffee123456';
const ID = '0x0199d8f26c1a7b3e9f00c0ffee12345600000000000000000000000000000000';

describe('the id of a redemption in the vault', () => {
  it('is its sixteen bytes, then sixteen zero bytes', () => {
    expect(vaultIdOf(UUID)).toBe(ID);
    expect(vaultIdOf(UUID.toUpperCase())).toBe(ID);
    expect(redemptionIdOf(ID)).toBe(UUID);
  });

  it.each([
    '',
    UUID.replaceAll('-', ''),
    `{${UUID}}`,
    `${UUID} `,
    UUID.replace('-7b', '-4b'),
    UUID.replace('-9f', '-cf'),
    UUID.slice(0, -1),
    '00000000-0000-0000-0000-000000000000',
  ])('is not made of %p', (text) => {
    expect(() => vaultIdOf(text)).toThrow('A redemption id must be a UUIDv7.');
  });

  it.each([
    ID.slice(0, -1),
    `${ID}0`,
    `${ID.slice(0, -1)}1`,
    ID.replace('7b3e', '4b3e'),
    ID.toUpperCase(),
    `0x${'0'.repeat(64)}`,
    `0x${'0'.repeat(32)}${ID.slice(2, 34)}`,
  ])('names no redemption where it is %p', (text) => {
    expect(redemptionIdOf(text)).toBeUndefined();
  });
});
