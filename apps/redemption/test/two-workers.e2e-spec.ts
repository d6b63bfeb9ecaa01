import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { stampede } from './load/stampede.js';

const LIMIT_MS = 240_000;

const REDEMPTIONS = 200;

describe(`${REDEMPTIONS} open redemptions and two workers, one of them killed half-way`, () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  it(
    'are all finished, and nothing was done twice',
    async () => {
      const figures = await stampede({
        databaseUrl: database.url,
        redemptions: REDEMPTIONS,
        poolSize: 6,
        atOnce: 32,
      });
      expect(figures.faults).toEqual([]);
      // Without leases of the killed worker the kill would have tested nothing.
      expect(figures.leasesOfTheDead).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
