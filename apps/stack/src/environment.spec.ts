import { describe, expect, it } from '@jest/globals';
import { childEnvironment } from './programs.js';

describe('childEnvironment', () => {
  const { PATH: path = '' } = childEnvironment({});

  it('hands on what is set, which a default gives way to and what is added replaces', () => {
    expect(path).not.toBe('');
    expect(childEnvironment({}, { PATH: 'x', NOT_SET: 'x' })).toMatchObject({
      PATH: path,
      NOT_SET: 'x',
    });
    expect(childEnvironment({ PATH: 'x' })).toMatchObject({ PATH: 'x', PATH_FILE: undefined });
  });

  it('puts the entries of a list in front of those that are set', () => {
    const environment = childEnvironment({}, {}, { PATH: 'x,y', NOT_SET: 'x' });
    expect(environment).toMatchObject({ PATH: `x,y,${path}`, NOT_SET: 'x' });
  });
});
