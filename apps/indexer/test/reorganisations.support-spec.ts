/** Reorganisations of each depth, one after the other on one chain. Counts as a test file without being one. */
import { describe, expect, it } from '@jest/globals';
import { aWallet, stake } from '#libs/testing';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerSuite, START } from './suite.js';

/** @param depths first and last of the depths on a chain: a few hundred blocks, as anvil forgets how to go back on longer ones */
export function describeReorganisations(depths: readonly (readonly [number, number])[]): void {
  describe('the index', () => {
    const suite = new IndexerSuite();

    it.each(depths)(
      'follows reorganisations of %s to %s blocks, each across midnight',
      async (from, to) => {
        const history = new HistoryMaker(randomOf(from), START);
        await suite.chain.player.play(history.blocks(30));
        const running = await suite.start();
        for (let depth = from; depth <= to; depth++) {
          history.approachMidnight();
          const fork = history.save();
          await suite.chain.player.play(history.blocks(depth));
          await running.level();
          history.restore(fork);
          // Two empty blocks of the same second would be one block of both forks.
          const own = stake(aWallet(0x9000 + depth), 1n);
          const first = { seconds: fork.seconds, transactions: [own] };
          await suite.chain.player.reorganise(depth, [first, ...history.blocks(depth)]);
          await running.level();
          await suite.expectIndexed();
        }
        const rolledBack = running.log
          .filter(({ msg }) => msg === 'Rolled back')
          .map((line) => line['depth']);
        expect(rolledBack).toEqual(
          Array.from({ length: to - from + 1 }, (_, index) => from + index),
        );
      },
    );
  });
}
