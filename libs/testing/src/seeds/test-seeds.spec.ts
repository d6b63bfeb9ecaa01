import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { testSeeds } from './test-seeds.js';

const [fixed, ofThisRun] = testSeeds().map(({ seed }) => seed) as [number, number];

/** The values with which fast-check tries a property. */
function triedWith(options: fc.Parameters<[number]>): number[] {
  const tried: number[] = [];
  fc.assert(
    fc.property(fc.integer(), (value) => {
      tried.push(value);
    }),
    options,
  );
  return tried;
}

describe('fast-check in tests', () => {
  it('tries each property with the fixed seed and with that of the run', () => {
    const ofEach = [fixed, ofThisRun].map((seed) => triedWith({ seed, numRuns: 10 }));
    expect(ofEach[0]).not.toEqual(ofEach[1]);
    expect(triedWith({ numRuns: 20 })).toEqual(ofEach.flat());
  });

  it('does so one after the other where they take time', async () => {
    const tried: number[] = [];
    let atOnce = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (value) => {
        expect(++atOnce).toBe(1);
        tried.push(value);
        await new Promise(setImmediate);
        atOnce--;
      }),
      { numRuns: 20 },
    );
    expect(tried).toEqual(triedWith({ numRuns: 20 }));
  });

  it('says with which seed a property does not hold', () => {
    const isWrong = fc.property(fc.nat(), () => false);
    expect(() => {
      fc.assert(isWrong);
    }).toThrow(`seed: ${fixed}`);
  });

  it('says so where it does not hold with the seed of the run only', () => {
    let runs = 0;
    const isWrongLater = fc.property(fc.nat(), () => ++runs <= 10);
    expect(() => {
      fc.assert(isWrongLater, { numRuns: 20 });
    }).toThrow(`seed: ${ofThisRun}`);
  });

  it('leaves a property the seed that it chooses', () => {
    expect(triedWith({ seed: 5, numRuns: 10 })).toHaveLength(10);
  });
});
