/** Sealing of days beside a running indexer: a real chain, a real index, a real thread. Needs a build. */
import { describe, expect, it } from '@jest/globals';
import { type Database, IndexStore, type SealedDay } from '#libs/db';
import { type Address, provenLow } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { aWallet, stake, testSeeds, withdraw } from '#libs/testing';
import { type IndexerUnderTest, startIndexer } from './harness.js';
import { HistoryMaker, randomOf } from './history.js';
import { SealBench, type SealBenchOptions } from './seal-bench.js';
import { type ExpectedDay, expectedDays } from './seal-oracle.js';
import { IndexerSuite, START } from './suite.js';

const suite = new IndexerSuite();
const DAY = 86_400;
const FINAL_DEPTH = 3;
const FINALITY = `depth:${FINAL_DEPTH}`;
const MIDNIGHT = (Math.floor(START / DAY) + 1) * DAY;

async function anIndexer(): Promise<IndexerUnderTest> {
  const indexer = await suite.start({ finality: FINALITY });
  await settled(indexer);
  return indexer;
}

/** Level, with what is final noted as such. */
async function settled(indexer: IndexerUnderTest): Promise<void> {
  await indexer.level();
  const final = (await suite.chain.player.head()) - BigInt(FINAL_DEPTH);
  await indexer.until(
    `final up to block ${final}`,
    ({ finalised, verifiedNumber = -1n }) => finalised?.number === final && verifiedNumber >= final,
  );
}

async function aBench(
  indexer: IndexerUnderTest,
  options: Partial<SealBenchOptions> = {},
): Promise<SealBench> {
  const { chain, database } = suite;
  const databaseUrl = database.urlAs('indexer');
  return new SealBench({
    database: options.database ?? (await database.open({ url: databaseUrl })),
    databaseUrl,
    rpcUrl: chain.rpc.url,
    firstBlock: chain.contracts.startBlock,
    status: indexer.status,
    ...options,
  });
}

/** All days that are final on the chain as it is now. */
async function oracle(): Promise<ExpectedDay[]> {
  const { rpc, contracts, player } = suite.chain;
  const settled = Number(await player.head()) - FINAL_DEPTH;
  return expectedDays(rpc, contracts.staking, { first: Number(contracts.startBlock), settled });
}

/** Oldest first. */
async function sealedDays(bench: SealBench): Promise<SealedDay[]> {
  return (await bench.days.page({ limit: 1000 })).reverse();
}

async function expectSealed(bench: SealBench): Promise<SealedDay[]> {
  const sealed = await sealedDays(bench);
  const expected = await oracle();
  expect(expected.length).toBeGreaterThan(0);
  expect(sealed).toMatchObject(expected);
  expect(sealed).toHaveLength(expected.length);
  return sealed;
}

/** One wallet's stake of 100, on the second day 40 of it are withdrawn for an hour; two days that are final. */
async function twoDays(): Promise<void> {
  const { player } = suite.chain;
  const wallet = aWallet(0x1001);
  await player.block(START + 60, stake(wallet, 100n));
  await player.block(MIDNIGHT + 3600, withdraw(wallet, 40n));
  await player.block(MIDNIGHT + 7200, stake(wallet, 40n), stake(aWallet(0x1002), 7n));
  await finalBlocksFrom(MIDNIGHT + DAY);
}

async function finalBlocksFrom(seconds: number): Promise<void> {
  const { player } = suite.chain;
  for (let block = 0; block <= FINAL_DEPTH; block += 1) await player.block(seconds + block * 12);
}

/** A row of the index is changed behind the program's back. */
async function tamper(database: Database, low: bigint): Promise<void> {
  await database.query(
    { text: 'UPDATE staking.balance_day SET low = $1 WHERE wallet = $2 AND day = $3' },
    [low, Buffer.from(aWallet(0x1001).slice(2), 'hex'), MIDNIGHT / DAY],
  );
}

describe('sealed days', () => {
  it.each(testSeeds())(
    'are those of the oracle for a random history with reorganisations, with $which',
    async ({ seed }) => {
      const random = randomOf(seed);
      const history = new HistoryMaker(random, START);
      const { player } = suite.chain;
      await player.play(history.blocks(40));
      const indexer = await anIndexer();
      const bench = await aBench(indexer);
      await bench.service.tick();
      let before = await expectSealed(bench);
      for (let round = 0; round < 4; round += 1) {
        if (random(2) === 0) history.approachMidnight();
        const fork = history.save();
        const depth = 1 + random(FINAL_DEPTH - 1);
        await player.play(history.blocks(depth));
        await settled(indexer);
        await bench.service.tick();
        history.restore(fork);
        const first = { seconds: fork.seconds, transactions: [stake(aWallet(0x9000 + round), 1n)] };
        await player.reorganise(depth, [first, ...history.blocks(depth + random(12))]);
        await settled(indexer);
        await bench.service.tick();
        const sealed = await expectSealed(bench);
        expect(sealed.slice(0, before.length)).toEqual(before);
        before = sealed;
      }
      expect(bench.messages()).not.toContain('A day could not be sealed');
      const { revisions } = await bench.days.summary();
      expect(revisions).toBe(0);
    },
  );

  it('prove what each wallet held, and that it held nothing', async () => {
    await suite.chain.player.play(new HistoryMaker(randomOf(7), START).blocks(40));
    const bench = await aBench(await anIndexer());
    await bench.service.tick();
    const keccak = await createKeccak256();
    for (const sealed of await expectSealed(bench)) {
      const lows = new Map<Address, bigint>();
      for await (const page of bench.lists.pages(sealed)) {
        for (const { wallet, low } of page) lows.set(wallet, low);
      }
      expect(lows.size).toBe(sealed.wallets);
      for (let ordinal = 0x0ffe; ordinal < 0x100f; ordinal += 1) {
        const wallet = aWallet(ordinal);
        const proof = await bench.lists.prove(sealed, wallet);
        if (proof === undefined) throw new Error('the list of a new day is kept');
        const low = provenLow(wallet, { root: sealed.root, ...proof }, keccak);
        expect(low).toBe(lows.get(wallet) ?? 0n);
      }
    }
  });

  it('are those before a reorganisation across midnight ends, which comes while a day is sealed', async () => {
    const { player } = suite.chain;
    await twoDays();
    const wallet = aWallet(0x1003);
    await player.block(MIDNIGHT + 2 * DAY - 1, stake(wallet, 5n));
    await player.block(MIDNIGHT + 2 * DAY, stake(wallet, 5n));
    const indexer = await anIndexer();
    const bench = await aBench(indexer, {
      hook: async (question) => {
        if (question !== 2) return;
        await player.reorganise(2, [
          { seconds: MIDNIGHT + 2 * DAY - 2, transactions: [stake(wallet, 9n)] },
          { seconds: MIDNIGHT + 2 * DAY + 1, transactions: [] },
          { seconds: MIDNIGHT + 2 * DAY + 2, transactions: [stake(wallet, 1n)] },
        ]);
        await settled(indexer);
      },
    });
    await bench.service.tick();
    // The index went back, which is of no day that is final: what was being sealed is worked out anew.
    await bench.service.tick();
    expect((await new IndexStore(await suite.database.open()).state())?.rollbacks).toBe(1n);
    await expectSealed(bench);
    await finalBlocksFrom(MIDNIGHT + 2 * DAY + 12);
    await settled(indexer);
    await bench.service.tick();
    expect(await expectSealed(bench)).toHaveLength(3);
    expect((await bench.days.summary()).revisions).toBe(0);
  });

  it('get a new revision where they come out differently later, which an alert tells', async () => {
    await suite.chain.player.block(START + 60, stake(aWallet(0x1001), 1n));
    await twoDays();
    const indexer = await anIndexer();
    const bench = await aBench(indexer);
    await bench.service.tick();
    const [, good] = await expectSealed(bench);
    if (good === undefined) throw new Error('there are two days');
    const database = await suite.database.open();
    await tamper(database, 33n);
    await database.query({ text: 'INSERT INTO staking.seal_recheck (from_day) VALUES (0)' });
    await finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await settled(indexer);
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
    await twoDays();
    const indexer = await anIndexer();
    const bench = await aBench(indexer);
    await bench.service.tick();
    const days = (await expectSealed(bench)).length;
    await bench.service.tick();
    const same = (): number =>
      bench.messages().filter((msg) => msg === 'A sealed day came out as it was sealed').length;
    expect(same()).toBe(0);
    await finalBlocksFrom(MIDNIGHT + 2 * DAY);
    await settled(indexer);
    await bench.service.tick();
    expect(await expectSealed(bench)).toHaveLength(days + 1);
    expect(same()).toBe(1);
  });

  it('are worked out again where the index is made anew, and what was sealed of a wrong one is revised', async () => {
    await twoDays();
    const indexer = await anIndexer();
    const database = await suite.database.open();
    await tamper(database, 1n);
    const wrong = await aBench(indexer);
    await wrong.service.tick();
    expect(await wrong.days.byDay(MIDNIGHT / DAY)).toMatchObject({ revision: 1, total: 1n });
    await indexer.stop();
    await database.query({
      text: 'TRUNCATE staking.balance_change, staking.balance_day, staking.block, staking.index_state, staking.audit_run',
    });
    const bench = await aBench(await anIndexer());
    expect((await bench.days.summary()).recheckFrom).toBe(Math.floor(START / DAY));
    await bench.service.tick();
    const sealed = await expectSealed(bench);
    expect(sealed.map(({ revision }) => revision)).toEqual([1, 2]);
    expect((await bench.days.summary()).recheckFrom).toBeNull();
  });

  it('are worked out again where blocks of them are taken out of the index', async () => {
    await twoDays();
    const indexer = await anIndexer();
    const bench = await aBench(indexer);
    await bench.service.tick();
    const [first] = await expectSealed(bench);
    const store = new IndexStore(await suite.database.open());
    const state = await store.state();
    if (state === undefined || first === undefined) throw new Error('there is an index');
    await indexer.stop();
    const fence = await store.takeLead();
    const to = { number: first.blockNumber, hash: first.blockHash, timestampSeconds: START + 60 };
    await store.rollback({ fence, head: state.head, to });
    expect((await bench.days.summary()).recheckFrom).toBe(MIDNIGHT / DAY);
    const again = await aBench(await anIndexer());
    await again.service.tick();
    await expectSealed(again);
    expect((await again.days.summary()).recheckFrom).toBeNull();
  });

  it('wait for the block that verification has come to', async () => {
    await twoDays();
    const indexer = await anIndexer();
    const bench = await aBench(indexer);
    const database = await suite.database.open();
    await indexer.stop();
    await database.query({
      text: `UPDATE staking.index_state SET verified_number = (SELECT max(block) FROM staking.balance_change WHERE seconds < ${MIDNIGHT}) + 1`,
    });
    // As it was before the program ended.
    const lead = {
      fence: await new IndexStore(database).takeLead(),
      signal: new AbortController().signal,
    };
    indexer.status.phase = 'following';
    indexer.status.leads(lead);
    await bench.service.tick();
    expect(await sealedDays(bench)).toMatchObject([{ day: Math.floor(START / DAY) }]);
  });

  it('keep their lists for so many days, and their roots for ever', async () => {
    await twoDays();
    await finalBlocksFrom(MIDNIGHT + 3 * DAY);
    const bench = await aBench(await anIndexer(), { keptDays: 2 });
    await bench.service.tick();
    const sealed = await expectSealed(bench);
    const kept = await Promise.all(sealed.map((day) => bench.lists.has(day)));
    expect(kept).toEqual([false, false, true, true]);
    const none = sealed[0] as SealedDay;
    expect(await bench.lists.prove(none, aWallet(0x1001))).toBeUndefined();
  });

  it('are not sealed by an indexer that stands by, nor under a fence of before', async () => {
    await twoDays();
    const indexer = await anIndexer();
    const { chain, database } = suite;
    const standby = await startIndexer({ chain, database, finality: FINALITY });
    try {
      await standby.until('standing by', ({ phase }) => phase === 'standby');
      const idle = await aBench(standby);
      await idle.service.tick();
      expect(await sealedDays(idle)).toEqual([]);
    } finally {
      await standby.stop();
    }
    const bench = await aBench(indexer);
    await new IndexStore(await database.open()).takeLead();
    await bench.service.tick();
    expect(await sealedDays(bench)).toEqual([]);
    expect(bench.log).toContainEqual(
      expect.objectContaining({ err: expect.objectContaining({ code: 'INDEX_FENCED' }) }),
    );
  });

  it('are left alone by a process that stops', async () => {
    await twoDays();
    const stop: { now?: () => Promise<void> } = {};
    const bench = await aBench(await anIndexer(), {
      hook: async (question) => {
        if (question === 4) void stop.now?.();
      },
    });
    stop.now = () => bench.service.beforeApplicationShutdown();
    await bench.service.tick();
    expect(bench.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await sealedDays(bench)).length).toBeLessThan(2);
  });
});
