import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changesOf, eventBlocksIn } from './chain-history.js';
import { FOLLOWED_POOL, replayWallet, replayWalletNumber } from './replay-contracts.js';
import { aShape } from './testing/a-shape.js';
import { TurnHistory } from './turn-history.js';

const shapes = fc
  .record({
    seed: fc.nat(1000),
    blocks: fc.integer({ min: 1, max: 60 }),
    eventsPerBlock: fc.integer({ min: 1, max: 25 }),
    more: fc.nat(24),
    wallets: fc.integer({ min: 1, max: 50 }),
  })
  .map(({ eventsPerBlock, more, ...shape }) => ({
    ...shape,
    events: shape.blocks * eventsPerBlock + Math.min(more, shape.blocks),
  }));

describe('a history of turns', () => {
  it('tells balances and totals at every block as its events fold', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const history = new TurnHistory(shape);
        const balances = new Map<number, bigint>();
        const at = (wallet: number, block: number): bigint =>
          history.balanceAt(wallet, FOLLOWED_POOL, block);
        const changes = [...changesOf(history, FOLLOWED_POOL)];
        const told = changes.map(({ wallet, block }) => [at(wallet, block - 1), at(wallet, block)]);
        const folded = changes.map(({ wallet, balance }) => {
          const before = balances.get(wallet) ?? 0n;
          balances.set(wallet, balance);
          return [before, balance];
        });
        expect(told).toEqual(folded);
        expect(folded.filter(([, balance = 0n]) => balance < 0n)).toEqual([]);
        const newest = Array.from({ length: shape.wallets }, (_, wallet) => at(wallet, Infinity));
        expect(newest).toEqual(newest.map((_, wallet) => balances.get(wallet) ?? 0n));
        expect(history.totalAt(shape.blocks)).toBe(newest.reduce((sum, one) => sum + one, 0n));
        expect(history.totalAt(0)).toBe(0n);
      }),
    );
  });

  it('has all its events, each in the block that names it, none without an effect', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const history = new TurnHistory(shape);
        const blocks = [...eventBlocksIn(history, { from: 0, to: Infinity })];
        const listed = blocks.flatMap((block) => {
          const { first, end } = history.eventsOf(block);
          return Array.from({ length: end - first }, (_, at) => ({ event: first + at, block }));
        });
        expect(listed).toEqual(
          Array.from({ length: shape.events }, (_, event) => ({
            event,
            block: history.blockOf(event),
          })),
        );
        const moves = listed.map(({ event }) => history.move(event));
        expect(moves.filter(({ units }) => units <= 0n)).toEqual([]);
        expect(moves.filter(({ wallet }) => wallet >= shape.wallets)).toEqual([]);
      }),
    );
  });

  it('lets each wallet have its turn before one has its second', () => {
    const wallets = 1000;
    const history = new TurnHistory({ seed: 5, blocks: 40, events: 4000, wallets });
    const first = Array.from({ length: wallets }, (_, place) => history.move(2 * place).wallet);
    const second = Array.from(
      { length: wallets },
      (_, place) => history.move(2 * (wallets + place)).wallet,
    );
    expect(new Set(first).size).toBe(wallets);
    expect(new Set(second).size).toBe(wallets);
    expect(second).not.toEqual(first);
  });

  it('finds the number of a wallet by its address', () => {
    const shape = aShape({ wallets: 500, history: 'turns' });
    for (let wallet = 0; wallet < 500; wallet++)
      expect(replayWalletNumber(shape, replayWallet(shape, wallet))).toBe(wallet);
    expect(replayWalletNumber(shape, replayWallet(shape, 500))).toBeUndefined();
    expect(replayWalletNumber(shape, `0x${'1'.repeat(40)}`)).toBeUndefined();
    expect(replayWalletNumber(shape, '0x')).toBeUndefined();
  });
});
