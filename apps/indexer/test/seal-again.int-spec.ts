/** Recomputed sealed days: equal to the sealed ones, or a new revision. Needs a build. */
import { describe, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { DAY, MIDNIGHT, SealSuite } from './seal-suite.js';
import { START } from './suite.js';

const suite = new SealSuite();

describe('sealed days', () => {
  it('get a new revision where they come out differently later, which an alert tells', async () => {
    await suite.chain.player.block(START + 60, stake(aWallet(0x1001), 1n));
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    const [, good] = await suite.expectSealed(bench);
    if (good === undefined) throw new Error('there are two days');
    const database = await suite.database.open();
    await suite.tamper(database, 33n);
    await database.query({ text: 'INSERT INTO staking.seal_recheck (from_day) VALUES (0)' });
    await suite.finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await suite.settled(indexer);
    await bench.service.tick();
    const revised = await bench.days.byDay(good.day);
    expect(revised).toMatchObject({ revision: 2, previousRoot: good.root, total: 33n });
    expect(await bench.days.revisions(good.day)).toEqual([good, revised]);
    expect(await bench.lists.has(good)).toBe(false);
    expect(await bench.lists.has({ ...good, revision: 2 })).toBe(true);
    expect(bench.log).toContainEqual(
      expect.objectContaining({ level: 'error', revision: 2, previousRoot: good.root }),
    );
    expect(await bench.metrics()).toEqual(
      expect.arrayContaining([
        'lowmark_sealed_days 3',
        'lowmark_sealed_revisions 1',
        `lowmark_sealed_revised_timestamp_seconds ${(revised?.sealedAt.getTime() ?? NaN) / 1000}`,
        'lowmark_sealed_recheck_days 0',
        'lowmark_seal_days_left 0',
        `lowmark_sealed_until_timestamp_seconds ${MIDNIGHT + 2 * DAY}`,
      ]),
    );
  });

  it('are held against the index again, one older day with each new one', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    const days = (await suite.expectSealed(bench)).length;
    await bench.service.tick();
    const same = (): number =>
      bench.messages().filter((msg) => msg === 'A sealed day came out as it was sealed').length;
    expect(same()).toBe(0);
    await suite.finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await suite.settled(indexer);
    await bench.service.tick();
    expect(await suite.expectSealed(bench)).toHaveLength(days + 1);
    expect(same()).toBe(1);
  });

  it('are worked out again where the index is made again, and what was sealed of a wrong one is revised', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const database = await suite.database.open();
    await suite.tamper(database, 1n);
    const wrong = await suite.aBench(indexer);
    await wrong.service.tick();
    expect(wrong.log.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(await wrong.days.byDay(MIDNIGHT / DAY)).toMatchObject({ revision: 1, total: 1n });
    await indexer.stop();
    await database.query({
      text: 'TRUNCATE staking.balance_change, staking.balance_day, staking.day_total, staking.block, staking.index_state, staking.audit_run',
    });
    const bench = await suite.aBench(await suite.anIndexer());
    expect((await bench.days.summary()).recheckFrom).toBe(Math.floor(START / DAY));
    await bench.service.tick();
    expect(bench.messages()).not.toContain('A day could not be sealed');
    const sealed = await suite.expectSealed(bench);
    expect(sealed.map(({ revision }) => revision)).toEqual([1, 2]);
    expect((await bench.days.summary()).recheckFrom).toBeNull();
  });

  it('are worked out again where blocks of them are taken out of the index', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    const [first] = await suite.expectSealed(bench);
    const store = new IndexStore(await suite.database.open());
    const state = await store.state();
    if (state === undefined || first === undefined) throw new Error('there is an index');
    await indexer.stop();
    const fence = await store.takeLead();
    const to = { number: first.blockNumber, hash: first.blockHash, timestampSeconds: START + 60 };
    await store.rollback({ fence, head: state.head, to });
    expect((await bench.days.summary()).recheckFrom).toBe(MIDNIGHT / DAY);
    const again = await suite.aBench(await suite.anIndexer());
    await again.service.tick();
    await suite.expectSealed(again);
    expect((await again.days.summary()).recheckFrom).toBeNull();
  });

  it('begin with the day of the first block, also if a node dated that block too late at first', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const late = await suite.aBench(indexer, { firstBlockLateSeconds: DAY });
    await late.service.tick();
    expect(await late.days.summary()).toMatchObject({ days: 1, first: MIDNIGHT / DAY });
    await suite.finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await suite.settled(indexer);
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    const sealed = await suite.expectSealed(bench);
    expect(sealed.map(({ revision }) => revision)).toEqual([1, 1, 1]);
    expect((await bench.days.summary()).recheckFrom).toBeNull();
  });
});
