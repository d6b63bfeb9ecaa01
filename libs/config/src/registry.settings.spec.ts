import { describe, expect, it } from '@jest/globals';
import { REGISTRY_ADDRESS_SETTING, registryOf, type SetRegistry } from './registry.settings.js';

const read = REGISTRY_ADDRESS_SETTING.parse as (text: string) => readonly SetRegistry[];
const [one, other] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`];

describe('REGISTRY_ADDRESS', () => {
  it('is that of STAKE_SET, or of each set by its name', () => {
    expect(registryOf(read(one.toUpperCase().replace('X', 'x')), 'golf')).toBe(one);
    const both = read(`default=${one}, golf=${other}`);
    expect(registryOf(both, 'default')).toBe(one);
    expect(registryOf(both, 'golf')).toBe(other);
    expect(registryOf(both, 'chess')).toBeUndefined();
    expect(registryOf(undefined, 'default')).toBeUndefined();
  });

  it.each([
    ['no address', '0x12'],
    ['two without names', `${one},${other}`],
    ['a name that is none', `Golf!=${one}`],
    ['a name twice', `golf=${one},golf=${other}`],
    ['a registry twice', `golf=${one},default=${one}`],
    ['a name without an address', 'golf='],
    ['an empty part', `golf=${one},`],
  ])('is refused with %s', (_, text) => {
    expect(() => read(text)).toThrow(/^must /);
  });
});
