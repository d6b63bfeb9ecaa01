import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { testConstants } from '#libs/config';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  ReplayChain,
  type ReplayProvider,
  ReplaySource,
  startReplayProvider,
} from '../replay/index.js';
import { testSeeds } from '#libs/testing/seeds';
import { type RunPlace } from '../providers/runs.js';
import { shapeOf } from '../support/generator.js';
import { Random } from '../support/random.js';
import { GeneratedIndex } from './generated-index.js';
import { countRows, wrongRows } from './verify-rows.js';

const KILLS = 3;
const LIMIT_MS = 180_000;
/** Slow answers and small ranges, so that the indexer is killed while it reads. */
const LATENCY_MS = 100;
const SETTINGS = testConstants({ maxRangeBlocks: 5 });

describe.each(testSeeds())('the indexer on a generated history, with $which,', ({ seed }) => {
  const chain = new ReplayChain(
    shapeOf({ events: 30_000, wallets: 700, eventsPerBlock: 50, days: 5 }),
  );
  let provider: ReplayProvider;
  let database: TestDatabase;
  let client: pg.Client;
  let folder: string;
  let index: GeneratedIndex | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lowmark-generated-'));
    const source = new ReplaySource(chain);
    provider = await startReplayProvider({ source, behaviour: { latencyMs: LATENCY_MS } });
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  afterEach(async () => {
    await index?.stop();
    await client.end();
    await database.drop();
    await provider.close();
    await rm(folder, { recursive: true });
  });

  it(
    `is killed ${KILLS} times, and has every row; rows changed by hand are found`,
    async () => {
      const databaseUrl = database.urlAs('indexer');
      const place: RunPlace = { chain, urls: [provider.url], databaseUrl, client, folder };
      index = new GeneratedIndex(place, new Random(seed), SETTINGS);
      const { peakMebibytes, cpuSeconds } = await index.index(KILLS);
      expect(peakMebibytes).toBeGreaterThan(0);
      expect(cpuSeconds).toBeGreaterThan(0);
      await index.stop();

      const expected = countRows(chain);
      expect(expected.changes).toBeGreaterThan(29_000);
      expect(await wrongRows(client, chain, expected)).toEqual([]);

      await client.query(`SET session_replication_role = replica`);
      await client.query(`UPDATE staking.balance_change SET balance = balance + 1 WHERE block = 7`);
      await client.query(
        `DELETE FROM staking.balance_day WHERE (wallet, day) IN (SELECT wallet, day FROM staking.balance_day LIMIT 1)`,
      );
      await client.query(`UPDATE staking.index_state SET total = total + 1`);
      const wrong = await wrongRows(client, chain, expected);
      const total = chain.history.totalAt(chain.head);
      expect(wrong).toEqual([
        ...Array.from({ length: 5 }, () =>
          expect.stringMatching(/balance_change: \w{40} 7 \d+ \d+$/),
        ),
        expect.stringMatching(/balance_change: \d\d rows are wrong$/),
        `staking.balance_day: ${expected.days - 1} rows and not ${expected.days}`,
        `the total is ${total + 1n} and not ${total}`,
      ]);
    },
    LIMIT_MS,
  );
});
