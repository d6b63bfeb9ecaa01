/**
 * The whole redemption service against partners that misbehave in every way of the fault table, on a chain that
 * reorganises, with workers killed by SIGKILL, false answers from one of two endpoints and from the price source, and
 * an intruder with the database credentials of the services.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase, type TestSeed } from '#libs/testing';
import { simulate } from './simulate.js';
import { toldVerdict } from './told-verdict.js';
import { type Verdict } from './verdict.js';

const LIMIT_MS = 600_000;

/**
 * One simulation, and what must hold after any number of runs.
 * @param more tests of what only many runs reach
 */
export function describeSimulation(
  runs: number,
  { which, seed }: TestSeed,
  more: (verdict: () => Verdict) => void = () => undefined,
): void {
  describe(`${runs} runs with ${which}`, () => {
    let database: TestDatabase;
    let verdict: Verdict;

    beforeAll(async () => {
      database = await createTestDatabase();
      const urlAs = database.urlAs.bind(database);
      verdict = await simulate({ seed, runs, databaseUrl: database.url, urlAs });
    }, LIMIT_MS);

    afterAll(async () => {
      await database.drop();
    });

    it('keep I1 to I11, and leave partner, chain and database in agreement to the last point and token', () => {
      if (verdict.faults.length > 0) throw new Error(toldVerdict(verdict));
      expect(verdict.counts['runs']).toBe(runs);
    });

    it('lost nothing to the lying endpoint and the intruder, and to the lying price less than the settings allow', () => {
      const { losses } = verdict;
      expect(losses['withoutPoints']).toBe(0);
      expect(losses['byPrice']).toBeLessThanOrEqual(losses['priceBound'] ?? 0);
    });

    it('final rows can be changed by nobody (I10), nor can two have one transaction id (I11)', async () => {
      const open = await database.open();
      const refused = (text: string): Promise<unknown> =>
        open.query({ text }).then(
          () => 'done',
          (error: unknown) => (error as { sqlState?: string }).sqlState,
        );
      const final = ['claimed', 'reverted', 'failed'].filter((state) => state in verdict.ends);
      expect(final).not.toEqual([]);
      for (const state of final) {
        const change = `version = version + 1, reason = 'other'`;
        const update = `UPDATE redemption.redemption SET ${change} WHERE state = '${state}'`;
        expect(await refused(update)).toBe('23000');
      }
      expect(await refused('DELETE FROM redemption.redemption')).toBe('23000');
      expect(await refused('DELETE FROM redemption.transition')).toBe('23000');
      const [index] = await open.query<{ unique: boolean }>({
        text: `SELECT indisunique AS unique FROM pg_index WHERE indexrelid = 'redemption.redemption_transaction_id'::regclass`,
      });
      expect(index?.unique).toBe(true);
    });

    more(() => verdict);
  });
}
