/** A repair that is killed at any moment, again and again, is completed by the next one. Needs a build. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { readFindings } from '#libs/db';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import { randomOf } from '../../apps/indexer/test/history.js';
import { DAY, MIDNIGHT } from '../../apps/indexer/test/seal-suite.js';
import { BOB, CAROL, dayAt, DAYS, REASON, RepairSuite, rowsOf, sqlOf } from './falsified-index.js';

const suite = new RepairSuite();
const OTHERS = Array.from({ length: 250 }, (_, place) => aWallet(0x2000 + place));
const KILLS = 4;

/** Every wallet has a wrong low; Bob's balances are wrong from a block on, and Carol has no row of a day. */
const FALSE_ROWS = [
  `UPDATE staking.balance_day SET low = 3 WHERE day = ${dayAt(2)}`,
  `UPDATE staking.balance_change SET balance = balance + 11 WHERE wallet = ${sqlOf(BOB)}
    AND block = (SELECT min(block) FROM staking.balance_change WHERE wallet = ${sqlOf(BOB)})`,
  `DELETE FROM staking.balance_day WHERE wallet = ${sqlOf(CAROL)} AND day = ${dayAt(4)}`,
  `UPDATE staking.day_total SET total = total + 5 WHERE day = ${dayAt(1)}`,
  `DELETE FROM staking.day_total WHERE day = ${dayAt(3)}`,
];

describe('a repair', () => {
  it.each(testSeeds().slice(-1))(
    'that is killed leaves no row half repaired and tells each correction once, with $which',
    async ({ seed }) => {
      const random = randomOf(seed);
      await suite.week(OTHERS);
      const indexer = await suite.anIndexer();
      await suite.falsify(...FALSE_ROWS);
      const database = await suite.database.open();
      const args = ['--all', '--apply', '--reason', REASON, '--yes'];
      const first = await suite.repair('--all');
      expect(first.out).toMatch(/different +253 wallets/);
      expect(first.out).toMatch(/sums of days +2 wrong/);
      const mining = new Mining();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const child = suite.command(...args);
        const ended = once(child, 'close');
        await Promise.race([ended, untilChanged(database, random(2))]);
        await sleep(random(120));
        child.kill('SIGKILL');
        await ended;
      }
      await mining.stop();
      const last = await suite.repair(...args);
      expect(last).toMatchObject({ code: 0 });
      expect((await suite.repair('--all')).out).toContain('The index agrees with the chain.');
      await mining.block();
      await suite.settled(indexer);
      await suite.expectIndexed();
      expect(await readFindings(database)).toEqual([]);
      const days = await rowsOf<{ wallet: string }>(
        database,
        'SELECT wallet FROM partners.corrected_days',
      );
      // A low in each row; Bob's and Carol's other days have corrections of their own.
      const wallets = await rowsOf<{ n: number }>(
        database,
        `SELECT count(*)::int AS n FROM partners.corrected_days WHERE first_day <= ${dayAt(2)} AND last_day >= ${dayAt(2)}`,
      );
      expect(wallets).toEqual([{ n: 253 }]);
      expect(days.length).toBeGreaterThanOrEqual(253);
      const untold = 'SELECT FROM partners.correction WHERE told_at IS NULL';
      expect(await rowsOf(database, untold)).toEqual([]);
    },
    240_000,
  );
});

/** New blocks while the index is repaired, in which a wallet with wrong rows moves. */
class Mining {
  private seconds = MIDNIGHT + DAYS * DAY + 120;
  private readonly stopping = new AbortController();
  private readonly running = this.run();

  async block(): Promise<void> {
    this.seconds += 12;
    await suite.chain.player.block(this.seconds, stake(BOB, 1n));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.block();
      await sleep(300);
    }
  }
}

/** Waits until so many more corrections are there; the repair writes one for each transaction. */
async function untilChanged(
  database: Parameters<typeof rowsOf>[0],
  corrections: number,
): Promise<void> {
  const count = async (): Promise<number> =>
    (await rowsOf(database, 'SELECT id FROM partners.correction')).length;
  const before = await count();
  const deadline = performance.now() + 20_000;
  while ((await count()) < before + corrections && performance.now() < deadline) await sleep(5);
}
