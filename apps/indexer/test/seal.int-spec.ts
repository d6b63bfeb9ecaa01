/** Sealing of days beside a running indexer: a real chain, a real index, a real thread. Needs a build. */
import { describe, expect, it } from '@jest/globals';
import { IndexStore, type SealedDay } from '#libs/db';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import { HistoryMaker, randomOf } from './history.js';
import { DAY, FINAL_DEPTH, FINALITY, MIDNIGHT, SealSuite } from './seal-suite.js';
import { START } from './suite.js';

const suite = new SealSuite();

describe('sealed days', () => {
  it.each(testSeeds())(
    'are those of the oracle for a random history with reorganisations, with $which',
    async ({ seed }) => {
      const random = randomOf(seed);
      const history = new HistoryMaker(random, START);
      const { player } = suite.chain;
      await player.play(history.blocks(40));
      const indexer = await suite.anIndexer();
      const bench = await suite.aBench(indexer);
      await bench.service.tick();
      let before = await suite.expectSealed(bench);
      for (let round = 0; round < 4; round += 1) {
        if (random(2) === 0) history.approachMidnight();
        const fork = history.save();
        const depth = 1 + random(FINAL_DEPTH - 1);
        await player.play(history.blocks(depth));
        await suite.settled(indexer);
        await bench.service.tick();
        history.restore(fork);
        const first = { seconds: fork.seconds, transactions: [stake(aWallet(0x9000 + round), 1n)] };
        await player.reorganise(depth, [first, ...history.blocks(depth + random(12))]);
        await suite.settled(indexer);
        await bench.service.tick();
        const sealed = await suite.expectSealed(bench);
        expect(sealed.slice(0, before.length)).toEqual(before);
        before = sealed;
      }
      expect(bench.messages()).not.toContain('A day could not be sealed');
      const { revisions } = await bench.days.summary();
      expect(revisions).toBe(0);
    },
  );

  it('are those before a reorganisation across midnight ends, which comes while a day is sealed', async () => {
    const { player } = suite.chain;
    await suite.twoDays();
    const wallet = aWallet(0x1003);
    await player.block(MIDNIGHT + 2 * DAY - 1, stake(wallet, 5n));
    await player.block(MIDNIGHT + 2 * DAY, stake(wallet, 5n));
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer, {
      hook: async (question) => {
        if (question !== 2) return;
        await player.reorganise(2, [
          { seconds: MIDNIGHT + 2 * DAY - 2, transactions: [stake(wallet, 9n)] },
          { seconds: MIDNIGHT + 2 * DAY + 1, transactions: [] },
          { seconds: MIDNIGHT + 2 * DAY + 2, transactions: [stake(wallet, 1n)] },
        ]);
        await suite.settled(indexer);
      },
    });
    await bench.service.tick();
    // The index was rolled back above all final days, so the unfinished seal is computed again.
    await bench.service.tick();
    expect((await new IndexStore(await suite.database.open()).state())?.rollbacks).toBe(1n);
    await suite.expectSealed(bench);
    await suite.finalBlocksFrom(MIDNIGHT + 2 * DAY + 12);
    await suite.settled(indexer);
    await bench.service.tick();
    expect(await suite.expectSealed(bench)).toHaveLength(3);
    expect((await bench.days.summary()).revisions).toBe(0);
  });

  it('wait for the block that verification has come to', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    const database = await suite.database.open();
    await indexer.stop();
    await database.query({
      text: `UPDATE staking.index_state SET verified_number = (SELECT max(block) FROM staking.balance_change WHERE seconds < ${MIDNIGHT}) + 1`,
    });
    // Restores the status of a leader that follows the chain, as before the indexer stopped.
    const lead = {
      fence: await new IndexStore(database).takeLead(),
      signal: new AbortController().signal,
    };
    indexer.status.phase = 'following';
    indexer.status.leads(lead);
    await bench.service.tick();
    expect(await suite.sealedDays(bench)).toMatchObject([{ day: Math.floor(START / DAY) }]);
  });

  it('are none in the mode none; they come once something vouches for the events', async () => {
    await suite.twoDays();
    const unvouched = await suite.start({ finality: FINALITY, verification: 'none' });
    const final = (await suite.chain.player.head()) - BigInt(FINAL_DEPTH);
    await unvouched.level();
    await unvouched.until('final', ({ finalised }) => finalised?.number === final);
    const bench = await suite.aBench(unvouched);
    await bench.service.tick();
    expect(await suite.sealedDays(bench)).toEqual([]);
    expect(bench.messages()).toEqual([]);
    await unvouched.stop();
    await suite.finalBlocksFrom(MIDNIGHT + DAY + 600);
    const later = await suite.aBench(await suite.anIndexer());
    await later.service.tick();
    expect(await suite.expectSealed(later)).toHaveLength(2);
  });

  it('keep their lists for so many days, and their roots for ever', async () => {
    await suite.twoDays();
    await suite.finalBlocksFrom(MIDNIGHT + 3 * DAY);
    const bench = await suite.aBench(await suite.anIndexer(), { keptDays: 2 });
    await bench.service.tick();
    const sealed = await suite.expectSealed(bench);
    const kept = await Promise.all(sealed.map((day) => bench.lists.has(day)));
    expect(kept).toEqual([false, false, true, true]);
    const none = sealed[0] as SealedDay;
    expect(await bench.lists.prove(none, aWallet(0x1001))).toBeUndefined();
  });

  // An indexer that stands by does not even try; see audit.service.spec.ts.
  it('are not sealed under a fence of before', async () => {
    await suite.twoDays();
    const bench = await suite.aBench(await suite.anIndexer());
    await new IndexStore(await suite.database.open()).takeLead();
    await bench.service.tick();
    expect(await suite.sealedDays(bench)).toEqual([]);
    expect(bench.log).toContainEqual(
      expect.objectContaining({ err: expect.objectContaining({ code: 'INDEX_FENCED' }) }),
    );
  });

  it('are left alone by a process that stops', async () => {
    await suite.twoDays();
    const stop: { now?: () => Promise<void> } = {};
    const bench = await suite.aBench(await suite.anIndexer(), {
      hook: (question) => {
        if (question === 4) void stop.now?.();
      },
    });
    stop.now = () => bench.service.beforeApplicationShutdown();
    await bench.service.tick();
    expect(bench.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await suite.sealedDays(bench)).length).toBeLessThan(2);
  });
});
