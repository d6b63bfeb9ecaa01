import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  callsInAll,
  COMPUTE_UNITS,
  PRICE_LISTS,
  SYNC_METHODS,
  syncCalls,
  type SyncFacts,
  unitsFor,
} from './sync-cost.js';
import { VERIFICATION_MODES } from './verification.js';

/** An example history: a contract like MasterChef, without a total. */
const history: SyncFacts = {
  mode: 'two',
  finalBlocks: 778_000,
  tipBlocks: 0,
  rangeBlocks: 10_000,
  finalEventBlocks: 9_950,
  totalCalls: 0,
  hasMulticall: true,
  hasOtherEndpoint: false,
};

describe('the calls of a sync', () => {
  it.each([
    ['total', { mode: 'total', totalCalls: 1 }, [78, 78 + 9_950, 78, 0]],
    ['a total of two contracts', { mode: 'total', totalCalls: 2 }, [78, 78 + 9_950, 156, 0]],
    ['two', { mode: 'two' }, [156, 156 + 9_950, 0, 0]],
    [
      'total with two providers',
      { mode: 'total', totalCalls: 1, hasOtherProvider: true },
      [156, 156 + 9_950, 78, 0],
    ],
    ['wallets', { mode: 'wallets', wallets: 1_200 }, [156, 156 + 9_950, 3, 0]],
    [
      'wallets one by one',
      { mode: 'wallets', wallets: 1_200, callsPerWallet: 2, hasMulticall: false },
      [156, 156 + 9_950, 2_400, 0],
    ],
    ['headers', { mode: 'headers' }, [78, 778_000, 0, 9_950]],
    [
      'headers with another endpoint',
      { mode: 'headers', hasOtherEndpoint: true },
      [78 + 9_950, 778_000, 0, 0],
    ],
  ] satisfies [string, Partial<SyncFacts>, number[]][])('%s', (_, facts, expected) => {
    const calls = syncCalls({ ...history, ...facts });
    expect(SYNC_METHODS.map((method) => calls[method])).toEqual(expected);
  });

  it('above finality every header is read, whatever the mode', () => {
    for (const mode of VERIFICATION_MODES) {
      const tip = { ...history, mode, finalBlocks: 0, finalEventBlocks: 0, tipBlocks: 500 };
      expect(syncCalls(tip).eth_getBlockByNumber).toBe(mode === 'two' ? 501 : 500);
    }
    const tip = { finalBlocks: 0, finalEventBlocks: 0, tipBlocks: 500, tipEventBlocks: 7 };
    expect(syncCalls({ ...history, ...tip, mode: 'wallets' }).eth_getBlockReceipts).toBe(7);
  });

  it('nothing is missing, nothing is asked', () => {
    for (const mode of VERIFICATION_MODES) {
      expect(callsInAll(syncCalls({ ...history, mode, finalBlocks: 0 }))).toBe(0);
    }
  });
});

const count = fc.integer({ min: 0, max: 1_000_000 });
const anyFacts: fc.Arbitrary<SyncFacts> = fc.record({
  mode: fc.constantFrom(...VERIFICATION_MODES),
  finalBlocks: count,
  tipBlocks: fc.integer({ min: 0, max: 2_000 }),
  rangeBlocks: fc.integer({ min: 1, max: 100_000 }),
  finalEventBlocks: count,
  tipEventBlocks: fc.integer({ min: 0, max: 2_000 }),
  totalCalls: fc.integer({ min: 0, max: 3 }),
  wallets: count,
  callsPerWallet: fc.integer({ min: 1, max: 3 }),
  hasMulticall: fc.boolean(),
  hasOtherEndpoint: fc.boolean(),
});

const unitsOf = (facts: SyncFacts): number => unitsFor(syncCalls(facts), COMPUTE_UNITS.perCall);

describe('the cost of a sync', () => {
  it.each([
    'finalBlocks',
    'tipBlocks',
    'finalEventBlocks',
    'tipEventBlocks',
    'wallets',
    'totalCalls',
  ] as const)('does not fall as %s grows', (name) => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 1, max: 10_000 }), (facts, more) => {
        const larger = { ...facts, [name]: (facts[name] ?? 0) + more };
        for (const { perCall } of PRICE_LISTS) {
          expect(unitsFor(syncCalls(larger), perCall)).toBeGreaterThanOrEqual(
            unitsFor(syncCalls(facts), perCall),
          );
        }
      }),
    );
  });

  it('does not grow with larger ranges', () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 1, max: 10_000 }), (facts, more) => {
        const wider = { ...facts, rangeBlocks: facts.rangeBlocks + more };
        expect(unitsOf(wider)).toBeLessThanOrEqual(unitsOf(facts));
      }),
    );
  });

  it('is whole, and the sum of its parts', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const calls = syncCalls(facts);
        const one = { eth_getLogs: 1, eth_getBlockByNumber: 1, eth_call: 1 };
        expect(callsInAll(calls)).toBe(unitsFor(calls, { ...one, eth_getBlockReceipts: 1 }));
        expect(SYNC_METHODS.every((method) => Number.isInteger(calls[method]))).toBe(true);
      }),
    );
  });

  it('final and other blocks add up', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const final = { ...facts, tipBlocks: 0 };
        const tip = { ...facts, finalBlocks: 0, wallets: 0 };
        expect(unitsOf(final) + unitsOf(tip)).toBe(unitsOf(facts));
      }),
    );
  });

  it('of a sparse history is a fraction of that with every header', () => {
    expect(unitsOf({ ...history, mode: 'headers' })).toBeGreaterThan(12_400_000);
    expect(unitsOf({ ...history, mode: 'total', totalCalls: 1 })).toBeLessThan(170_000);
  });
});
