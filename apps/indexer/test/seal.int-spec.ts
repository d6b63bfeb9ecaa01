/**
 * Sealing of days beside a running indexer: a real chain, a real index, a real thread. Other leaders, rollbacks and halts
 * while a day is sealed are in test/simulation and in libs/db. Needs a build.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { clearFindings, readFindings, type SealedDay } from '#libs/db';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexStatus } from '../src/health/index-status.js';
import { type SealBench } from './seal-bench.js';
import { DAY, FINAL_DEPTH, FINALITY, MIDNIGHT, SealSuite } from './seal-suite.js';
import { START } from './suite.js';

const suite = new SealSuite();
const RETRY_AFTER_MS = 10 * 60_000;

describe('sealed days', () => {
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

describe('sealed days that are computed again', () => {
  it('get a new revision if they come out differently, which an alert tells', async () => {
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

  it('are one older day with each new one', async () => {
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

  it('are those of an index that is made again, and what was sealed of a wrong one is revised', async () => {
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

const SECOND_DAY = MIDNIGHT / DAY;

/** Changes the stored closing of the second day without the indexer's knowledge. */
async function tamper(by: bigint): Promise<void> {
  const database = await suite.database.open();
  await database.query(
    {
      text: 'UPDATE staking.balance_day SET closing = closing + $1 WHERE wallet = $2 AND day = $3',
    },
    [by, Buffer.from(aWallet(0x1002).slice(2), 'hex'), SECOND_DAY],
  );
}

/** Corrects the row, and what is known to be wrong, as `index repair` does. */
async function repaired(by: bigint): Promise<void> {
  await tamper(by);
  await clearFindings(await suite.database.open(), 'all');
}

const seriesOf = (metrics: readonly string[]): string[] =>
  metrics.filter((line) => line.startsWith('lowmark_seal_sum_difference'));

describe('a day whose balances do not add up', () => {
  it('is not sealed, which the log and the metric say by how much, until it is right', async () => {
    await suite.twoDays();
    const bench = await suite.aBench(await suite.anIndexer());
    await tamper(-5n);
    await bench.service.tick();
    expect(await suite.sealedDays(bench)).toMatchObject([{ day: SECOND_DAY - 1 }]);
    expect(bench.log.filter(({ level }) => level === 'error')).toMatchObject([
      {
        ...{ day: '2025-10-10', difference: -5 },
        msg: 'A day was not sealed: the balances at its end do not add up to the stored total. See docs/operating/troubleshooting.md#a-wrong-figure',
      },
    ]);
    const series = ['lowmark_seal_sum_difference{day="2025-10-10"} -5'];
    expect(seriesOf(await bench.metrics())).toEqual(series);
    expect(await readFindings(await suite.database.open())).toBe('all');
    await repaired(5n);
    await bench.service.tick();
    expect(seriesOf(await bench.metrics())).toEqual(series);
    bench.clock.advance(RETRY_AFTER_MS);
    await bench.service.tick();
    await suite.expectSealed(bench);
    expect(seriesOf(await bench.metrics())).toEqual([]);
  });

  it('is noted where the older day that each run draws is one', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    await suite.finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await suite.settled(indexer);
    const database = await suite.database.open();
    // The totals of the two sealed days are wrong; the third day has the right one.
    await database.query({
      text: 'UPDATE staking.day_total SET total = total + 1 WHERE day < $1',
      values: [SECOND_DAY + 1],
    });
    await database.query({
      text: 'INSERT INTO staking.day_total SELECT $1, total FROM staking.index_state ON CONFLICT DO NOTHING',
      values: [SECOND_DAY + 1],
    });
    await bench.service.tick();
    expect((await suite.sealedDays(bench)).length).toBe(3);
    const { recheckFrom } = await bench.days.summary();
    expect([SECOND_DAY - 1, SECOND_DAY]).toContain(recheckFrom);
  });
});

/** Puts the first block after midnight into the day before. */
const EARLY: Fault = { kind: 'false-times', seconds: -5400 };
const OUT: Fault = { kind: 'status', status: 503 };

describe('the closing block of a sealed day', () => {
  let nodes: FaultyNode[] = [];

  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  /** One endpoint for each fault, in order of preference, beside an index that an honest node fed. */
  async function aBench(
    mode: 'total' | 'two',
    faults: readonly (Fault | undefined)[],
  ): Promise<SealBench> {
    nodes = await Promise.all(
      faults.map((fault) =>
        startFaultyNode({ upstream: suite.chain.rpc.url, ...(fault && { fault }) }),
      ),
    );
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const { verification } = indexer.status;
    if (verification === undefined) throw new Error('the index is verified');
    const status: IndexStatus = Object.assign(Object.create(indexer.status) as IndexStatus, {
      verification: { ...verification, mode },
    });
    return suite.aBench({ ...indexer, status }, { rpcUrls: nodes.map(({ url }) => url) });
  }

  async function again(bench: SealBench): Promise<void> {
    bench.clock.advance(RETRY_AFTER_MS);
    await bench.service.tick();
  }

  it('is not believed if one of two providers says otherwise, until they agree', async () => {
    const bench = await aBench('total', [EARLY, undefined]);
    await bench.service.tick();
    expect((await bench.days.summary()).days).toBe(0);
    const [error] = bench.log.filter(({ level }) => level === 'error');
    expect(error?.['err']).toMatchObject({ code: 'PROVIDERS_DISAGREE' });
    for (const [index, { url }] of nodes.entries()) {
      expect(JSON.stringify(error)).toContain(`by ${new URL(url).host}#${index + 1}`);
    }
    for (const node of nodes) node.fault = undefined;
    await again(bench);
    await suite.expectSealed(bench);
  });

  it.each([
    ['total', 2],
    ['two', 0],
  ] as const)(
    'while the other provider is out, in the mode %s: %i days are sealed',
    async (mode, days) => {
      const bench = await aBench(mode, [undefined, OUT]);
      await bench.service.tick();
      expect((await bench.days.summary()).days).toBe(days);
      for (const node of nodes) node.fault = undefined;
      await again(bench);
      await suite.expectSealed(bench);
    },
  );
});
