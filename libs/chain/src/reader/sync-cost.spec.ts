import { describe, expect, it } from '@jest/globals';
import {
  callsInAll,
  secondsWithin,
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
    ['none', { mode: 'none' }, [78, 78 + 9_950, 0, 0]],
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
    for (const mode of ['wallets', 'none'] as const) {
      expect(syncCalls({ ...history, ...tip, mode }).eth_getBlockReceipts).toBe(7);
      const other = syncCalls({ ...history, ...tip, mode, hasOtherEndpoint: true });
      expect(other.eth_getBlockReceipts).toBe(0);
    }
  });

  it('nothing is missing, nothing is asked', () => {
    for (const mode of VERIFICATION_MODES) {
      expect(callsInAll(syncCalls({ ...history, mode, finalBlocks: 0 }))).toBe(0);
    }
  });
});

it('the cost of final and of other blocks adds up', () => {
  const facts = { ...history, tipBlocks: 500, tipEventBlocks: 7, wallets: 1_200 };
  const unitsOf = (changes: Partial<SyncFacts>) => unitsFor(syncCalls({ ...facts, ...changes }));
  for (const mode of VERIFICATION_MODES) {
    const final = unitsOf({ mode, tipBlocks: 0 });
    expect(final + unitsOf({ mode, finalBlocks: 0, wallets: 0 })).toBe(unitsOf({ mode }));
  }
});

const CALLS = { eth_getLogs: 600, eth_getBlockByNumber: 400, eth_call: 0, eth_getBlockReceipts: 0 };
const NAMES = ['a.example', 'b.example', 'c.example'];

/** @param perSecond calls in a second by endpoint; undefined is no budget */
function secondsOf(
  mode: 'two' | 'total',
  perSecond: readonly (number | undefined)[],
  endpoints: readonly string[] = NAMES.slice(0, perSecond.length),
): number {
  const budgets = perSecond.map((calls) =>
    calls === undefined ? undefined : { unit: 'calls' as const, perSecond: calls },
  );
  return secondsWithin({ endpoints, budgets }, CALLS, mode);
}

describe('the time within budgets', () => {
  it.each([
    ['one', [10], 100],
    ['two', [10, 40], 20],
    ['one without a budget', [10, undefined], 0],
  ])('shares the work by budget: %s', (_, perSecond, seconds) => {
    expect(secondsOf('total', perSecond)).toBeCloseTo(seconds);
  });

  it.each([
    ['two that are as fast', [10, 10], 50],
    ['two, the slower one counts', [10, 40], 50],
    ['two, one without a budget', [10, undefined], 50],
    ['three: a slow one takes a small part', [100, 100, 1], 1000 / 201],
    ['three, of which the fastest reads every range', [100, 10, 5], 500 / 15],
    ['three, one without a budget', [undefined, 10, 15], 20],
    ['three, two without a budget', [undefined, undefined, 1], 0],
  ])('reads each range from two providers: %s', (_, perSecond, seconds) => {
    expect(secondsOf('two', perSecond)).toBeCloseTo(seconds);
  });

  it('compares no endpoint with another one of its provider', () => {
    const endpoints = ['a.example#1', 'a.example#2', 'b.example'];
    expect(secondsOf('two', [10, 10, 10], endpoints)).toBeCloseTo(50);
  });
});
