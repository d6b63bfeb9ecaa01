import { describe, expect, it } from '@jest/globals';
import { Constant, readSettings, Setting, testConstants } from './index.js';

class Sample {
  @Setting({ description: 'name', default: 'a' })
  readonly name!: string;

  @Constant()
  readonly pollIntervalMs = 2000;

  @Constant()
  readonly maxRangeBlocks = 10_000;
}

class Without {
  @Setting({ description: 'name', default: 'a' })
  readonly name!: string;
}

class Fewer extends Sample {
  @Constant()
  readonly sealKeptDays = 35;
}

describe('constants', () => {
  it('have their values where no test replaces them', () => {
    expect(readSettings(Sample, {})).toEqual({
      ...{ name: 'a', pollIntervalMs: 2000, maxRangeBlocks: 10_000 },
    });
  });

  it('are replaced by their names, those of other programs left out', () => {
    const source = testConstants({ pollIntervalMs: 50, sealKeptDays: 0 });
    expect(readSettings(Sample, source)).toEqual({
      ...{ name: 'a', pollIntervalMs: 50, maxRangeBlocks: 10_000 },
    });
    expect(readSettings(Fewer, source)).toMatchObject({ pollIntervalMs: 50, sealKeptDays: 0 });
  });

  it.each(['{', '3', 'null', '{"pollIntervalMs":"50"}', '{"pollMs":50}', '{"pollIntervalMs":-1}'])(
    'are not replaced by %s',
    (text) => {
      expect(() => readSettings(Sample, { LOWMARK_TEST_CONSTANTS: text })).toThrow(
        'LOWMARK_TEST_CONSTANTS must be a JSON object of numbers, by names of maxRangeBlocks, ',
      );
    },
  );

  it.each([Sample, Without])('are never replaced in production', (Class) => {
    const source = { ...testConstants({ pollIntervalMs: 50 }), NODE_ENV: 'production' };
    expect(() => readSettings(Class, source)).toThrow(
      'LOWMARK_TEST_CONSTANTS is for tests: production refuses it',
    );
  });
});
