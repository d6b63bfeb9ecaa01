import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '../values/address.js';
import { type BlockDeltas, type WalletState } from './balance.js';
import { dayOf, SECONDS_PER_DAY } from '../values/day.js';
import { PermanentError } from '../values/errors.js';
import { dailyMinima } from './snapshot.js';
import {
  type FoldedBlocks,
  type FoldedWallet,
  foldBlocks,
  NegativeBalanceError,
} from './fold-blocks.js';

const WALLETS = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}` as Address);
const [ALICE = '' as Address, BOB = '' as Address] = WALLETS;
const ZERO = `0x${'0'.repeat(40)}` as Address;
/** 2026-01-01. */
const FIRST_DAY = 20_454;

function block(number: number, seconds: number, ...deltas: [Address, number][]): BlockDeltas {
  return {
    blockNumber: BigInt(number),
    timestampSeconds: seconds,
    deltas: deltas.map(([wallet, amount]) => ({ wallet, amount: BigInt(amount) })),
  };
}

/** Valid histories: balances at the end of a block are never below zero, but may be inside a block. */
const histories: fc.Arbitrary<BlockDeltas[]> = fc
  .array(
    fc.record({
      step: fc.oneof(
        fc.constant({ kind: 'same' as const }),
        fc.constant({ kind: 'midnight' as const }),
        fc.record({
          kind: fc.constant('midnights' as const),
          days: fc.integer({ min: 1, max: 9 }),
        }),
        fc.record({
          kind: fc.constant('seconds' as const),
          by: fc.integer({ min: 1, max: 90_000 }),
        }),
        fc.constant({ kind: 'seconds' as const, by: 1 }),
      ),
      effects: fc.array(
        fc.record({
          wallet: fc.constantFrom(...WALLETS),
          amount: fc.integer({ min: -1000, max: 1000 }),
        }),
        { maxLength: 6 },
      ),
      leave: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((drafts) => {
    const balances = new Map<Address, bigint>();
    let seconds = FIRST_DAY * SECONDS_PER_DAY;
    return drafts.map(({ step, effects, leave }, index) => {
      if (step.kind === 'seconds') seconds += step.by;
      if (step.kind === 'midnight') seconds = (dayOf(seconds) + 1) * SECONDS_PER_DAY;
      if (step.kind === 'midnights') seconds = (dayOf(seconds) + step.days) * SECONDS_PER_DAY;
      const deltas = effects.map(({ wallet, amount }) => ({ wallet, amount: BigInt(amount) }));
      for (const wallet of WALLETS) {
        const net = deltas.reduce((sum, d) => (d.wallet === wallet ? sum + d.amount : sum), 0n);
        const after = (balances.get(wallet) ?? 0n) + net;
        const fix = after < 0n || (leave && net < 0n) ? -after : 0n;
        if (fix !== 0n) deltas.push({ wallet, amount: fix });
        balances.set(wallet, after + fix);
      }
      return { blockNumber: BigInt(index + 1), timestampSeconds: seconds, deltas };
    });
  });

/** The sum of all deltas up to and including a second: the definition of a balance, computed from the events. */
function balanceAt(history: readonly BlockDeltas[], wallet: Address, seconds: number): bigint {
  return history
    .filter(({ timestampSeconds }) => timestampSeconds <= seconds)
    .flatMap(({ deltas }) => deltas)
    .reduce((sum, delta) => (delta.wallet === wallet ? sum + delta.amount : sum), 0n);
}

/**
 * The lowest balance of a day. A balance is constant between events, so its minimum is at the day's start or at an
 * event.
 */
function minimumOf(history: readonly BlockDeltas[], wallet: Address, day: number): bigint {
  const times = history.map((b) => b.timestampSeconds).filter((seconds) => dayOf(seconds) === day);
  return [day * SECONDS_PER_DAY, ...times]
    .map((seconds) => balanceAt(history, wallet, seconds))
    .reduce((least, balance) => (balance < least ? balance : least));
}

function foldInBatches(history: readonly BlockDeltas[], cuts: readonly number[]): FoldedBlocks {
  const bounds = [0, ...cuts.map((cut) => cut % (history.length + 1)), history.length];
  bounds.sort((a, b) => a - b);
  const states = new Map<Address, WalletState>();
  const days = new Map<string, FoldedBlocks['days'][number]>();
  const changes: FoldedBlocks['changes'] = [];
  const wallets = new Map<Address, FoldedWallet>();
  const dayDeltas = new Map<number, bigint>();
  let totalDelta = 0n;
  for (let i = 1; i < bounds.length; i++) {
    const folded = foldBlocks(states, history.slice(bounds[i - 1], bounds[i]));
    for (const one of folded.wallets.values()) {
      states.set(one.wallet, one.after);
      wallets.set(one.wallet, { ...one, before: wallets.get(one.wallet)?.before });
    }
    for (const [day, delta] of folded.dayDeltas) dayDeltas.set(day, totalDelta + delta);
    for (const day of folded.days) {
      const key = `${day.wallet}/${day.day}`;
      expect(day.hasRow).toBe(days.has(key));
      days.set(key, { ...day, hasRow: false });
    }
    changes.push(...folded.changes);
    totalDelta += folded.totalDelta;
  }
  return {
    changes,
    days: [...days.values()],
    wallets,
    totalDelta,
    dayDeltas,
  };
}

const sorted = (folded: FoldedBlocks) => ({
  ...folded,
  wallets: [...folded.wallets].map(([key, { wallet, before, after }]) => ({
    key,
    wallet,
    before,
    after,
  })),
  days: folded.days.toSorted((a, b) => a.day - b.day || a.wallet.localeCompare(b.wallet)),
});

describe('foldBlocks with dailyMinima', () => {
  it('agrees with a brute-force reading of the events on every day of every window', () => {
    fc.assert(
      fc.property(
        histories,
        fc.integer({ min: 1, max: 30 }),
        fc.nat(400),
        (history, lastDays, at) => {
          const { days } = foldBlocks(new Map(), history);
          const endDay = FIRST_DAY + (at % 120);
          const window = { firstDay: endDay - lastDays, endDay };
          for (const wallet of WALLETS) {
            const rows = days
              .filter((row) => row.wallet === wallet && row.day < endDay)
              .toSorted((a, b) => b.day - a.day)
              .slice(0, lastDays + 1);
            expect(dailyMinima(rows, window)).toEqual(
              Array.from({ length: lastDays }, (_, i) => ({
                day: window.firstDay + i,
                minimum: minimumOf(history, wallet, window.firstDay + i),
              })),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the same rows, states and total in one go and in any batches', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(100), { maxLength: 5 }), (history, cuts) => {
        expect(sorted(foldInBatches(history, cuts))).toEqual(
          sorted(foldBlocks(new Map(), history)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('writes changes that are the end-of-block balances, and a total that is their sum', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { changes, wallets, totalDelta, dayDeltas } = foldBlocks(new Map(), history);
        for (const { wallet, blockNumber, balance } of changes) {
          expect(balance).toBe(balanceAt(history.slice(0, Number(blockNumber)), wallet, Infinity));
        }
        const total = [...wallets.values()].reduce((sum, { after }) => sum + after.balance, 0n);
        expect(totalDelta).toBe(total);
        const ofDays = [...dayDeltas].map(([day]) => {
          const end = (day + 1) * SECONDS_PER_DAY - 1;
          return [day, WALLETS.reduce((sum, wallet) => sum + balanceAt(history, wallet, end), 0n)];
        });
        expect([...dayDeltas]).toEqual(ofDays);
        expect([...dayDeltas.keys()]).toEqual([
          ...new Set(changes.map(({ timestampSeconds }) => dayOf(timestampSeconds))),
        ]);
      }),
    );
  });
});

const NOTHING: FoldedBlocks = {
  changes: [],
  days: [],
  wallets: new Map(),
  totalDelta: 0n,
  dayDeltas: new Map(),
};

describe('foldBlocks', () => {
  const midnight = FIRST_DAY * SECONDS_PER_DAY;

  it('lets a change at exactly 00:00:00 replace the balance carried in', () => {
    const { days } = foldBlocks(new Map(), [
      block(1, midnight - 10, [ALICE, 100]),
      block(2, midnight, [ALICE, -40]),
    ]);
    expect(days).toEqual([
      { wallet: ALICE, day: FIRST_DAY - 1, low: 0n, closing: 100n, hasRow: false },
      { wallet: ALICE, day: FIRST_DAY, low: null, closing: 60n, hasRow: false },
    ]);
  });

  it('never sees a balance that another block of the same second replaces', () => {
    const { changes, days } = foldBlocks(new Map(), [
      block(1, midnight, [ALICE, 100]),
      block(2, midnight, [ALICE, -100]),
      block(3, midnight, [ALICE, 70]),
    ]);
    expect(changes.map(({ balance }) => balance)).toEqual([100n, 0n, 70n]);
    expect(days).toEqual([
      { wallet: ALICE, day: FIRST_DAY, low: null, closing: 70n, hasRow: false },
    ]);
  });

  it('never sees what happens inside a block', () => {
    const { changes } = foldBlocks(new Map(), [
      block(1, midnight + 5, [ALICE, -50], [ALICE, 80], [BOB, 5], [ALICE, 0]),
    ]);
    expect(changes.map(({ wallet, balance }) => [wallet, balance])).toEqual([
      [ALICE, 30n],
      [BOB, 5n],
    ]);
  });

  it('adds no row for a net effect of zero, except the first ever', () => {
    const first = foldBlocks(new Map(), [block(1, midnight + 5, [ALICE, 50], [ALICE, -50])]);
    expect(first.changes.map(({ balance }) => balance)).toEqual([0n]);
    const states = new Map([...first.wallets].map(([wallet, { after }]) => [wallet, after]));
    const second = foldBlocks(states, [block(2, midnight + 9, [ALICE, 7], [ALICE, -7])]);
    expect(second).toEqual(NOTHING);
  });

  it('ignores zero amounts and the zero address', () => {
    const folded = foldBlocks(new Map(), [block(1, midnight, [ALICE, 0], [ZERO, -5], [ZERO, 9])]);
    expect(folded).toEqual(NOTHING);
  });

  it('names wallet, block, balance and amount where a balance would go below zero', () => {
    const history = [block(7, midnight, [ALICE, 10]), block(8, midnight + 1, [ALICE, -11])];
    expect(() => foldBlocks(new Map(), history)).toThrow(NegativeBalanceError);
    expect(() => foldBlocks(new Map(), history)).toThrow(
      expect.objectContaining({
        code: 'NEGATIVE_BALANCE',
        retryable: false,
        wallet: ALICE,
        blockNumber: 8n,
        balance: 10n,
        amount: -11n,
      }),
    );
  });

  it.each([
    ['numbers that repeat', [block(2, midnight), block(2, midnight)]],
    ['numbers that fall', [block(2, midnight), block(1, midnight)]],
    ['times that run backwards', [block(1, midnight), block(2, midnight - 1)]],
  ])('refuses %s', (_, history) => {
    expect(() => foldBlocks(new Map(), history)).toThrow(PermanentError);
  });

  it('refuses a block older than what the wallet already has', () => {
    const state = { balance: 1n, sinceSeconds: midnight + 60, low: null };
    expect(() => foldBlocks(new Map([[ALICE, state]]), [block(1, midnight, [ALICE, 1])])).toThrow(
      expect.objectContaining({ code: 'BLOCKS_OUT_OF_ORDER' }),
    );
  });
});
