/** Days whose balances do not add up to the stored total are not sealed. Needs a build. */
import { describe, expect, it } from '@jest/globals';
import { clearFindings, readFindings } from '#libs/db';
import { aWallet } from '#libs/testing/database';
import { DAY, MIDNIGHT, SealSuite } from './seal-suite.js';

const suite = new SealSuite();
const SECOND_DAY = MIDNIGHT / DAY;
const RETRY_AFTER_MS = 10 * 60_000;

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

  it('is found among the sealed days, and looked at until it is right', async () => {
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const bench = await suite.aBench(indexer);
    await bench.service.tick();
    await suite.expectSealed(bench);
    const database = await suite.database.open();
    await database.query({
      text: 'INSERT INTO staking.seal_recheck (from_day) VALUES ($1)',
      values: [SECOND_DAY],
    });
    await tamper(9n);
    await bench.service.tick();
    expect(seriesOf(await bench.metrics())).toEqual([
      'lowmark_seal_sum_difference{day="2025-10-10"} 9',
    ]);
    expect((await bench.days.summary()).recheckFrom).toBe(SECOND_DAY);
    await repaired(-9n);
    bench.clock.advance(RETRY_AFTER_MS);
    await bench.service.tick();
    await suite.expectSealed(bench);
    expect(await bench.days.summary()).toMatchObject({ recheckFrom: null, revisions: 0 });
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
