/** Reorganisations of each depth, in turn on one chain, by the real node and PostgreSQL. */
import { describe, expect, it } from '@jest/globals';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { HistoryMaker, randomOf } from './history.js';
import { IndexerSuite, START } from './suite.js';

/** First and last depth on one chain; a few hundred blocks in all, as anvil cannot revert far on longer chains. */
const DEPTHS = [
  [1, 8],
  [15, 17],
  [31, 32],
  [59, 60],
] as const;

describe('the index', () => {
  const suite = new IndexerSuite();

  it.each(DEPTHS)(
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
        // A stake of its own makes the block differ: two empty blocks of the same second would be the same block on
        // both forks.
        const own = stake(aWallet(0x9000 + depth), 1n);
        const first = { seconds: fork.seconds, transactions: [own] };
        await suite.chain.player.reorganise(depth, [first, ...history.blocks(depth)]);
        await running.level();
        await suite.expectIndexed();
      }
      const rolledBack = running.log
        .filter(({ msg }) => msg === 'Rolled back')
        .map((line) => line['depth']);
      expect(rolledBack).toEqual(Array.from({ length: to - from + 1 }, (_, index) => from + index));
    },
  );
});
