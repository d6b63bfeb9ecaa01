import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, IndexStore, PartitionStore } from '#libs/db';
import { type Logger } from '#libs/platform';
import { FakeClock } from '#libs/testing/clock';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { IndexStatus } from '../health/index-status.js';
import { PartitionService } from './partition.service.js';

let test: TestDatabase;
let owner: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
});
afterAll(() => test.drop());

async function partitions(): Promise<number> {
  const text = `SELECT FROM pg_inherits WHERE inhparent = 'staking.balance_change'::regclass`;
  return (await owner.query({ text })).length;
}

it('adds partitions while it leads, in the first sync too, and rests where a table is kept', async () => {
  const database = await test.open({ url: test.urlAs('indexer') });
  const index = new IndexStore(database);
  await index.create(anInitialIndex());
  const fence = await index.takeLead();
  const head = aBlock(1);
  const changes = Array.from({ length: 200 }, (_, place) => ({
    ...{ wallet: aWallet(place + 1), balance: 1n },
    ...{ blockNumber: head.number, timestampSeconds: head.timestampSeconds },
  }));
  await index.commit({
    ...{ fence, previousHead: aBlock(0), head, blocks: [head] },
    folded: aFold({ changes, total: 200n }),
  });
  await owner.query({
    text: `CREATE OR REPLACE FUNCTION staking.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 8192::bigint'`,
  });
  const [status, clock, lead] = [new IndexStatus(), new FakeClock(0), new AbortController()];
  const log: string[] = [];
  const note = (_: object, message: string) => log.push(message);
  const logger = { info: note, warn: note, error: note } as unknown as Logger;
  const service = new PartitionService(new PartitionStore(database), status, clock, logger);

  status.phase = 'backfilling';
  await service.tick();
  expect(await partitions()).toBe(1);

  status.leads({ fence, signal: lead.signal });
  const reader = await owner.pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM staking.balance_change LIMIT 1');
  await service.tick();
  expect(log.join('')).toContain('long transaction');
  await reader.query('COMMIT');
  reader.release();
  await service.tick();
  expect(await partitions()).toBe(1);
  clock.advance(60_000);
  await service.tick();
  expect(await partitions()).toBe(2);
  expect(log.join('')).toContain('Added a partition');

  await index.takeLead();
  await owner.query({
    text: 'INSERT INTO staking.balance_day SELECT wallet, 1, 0, 1 FROM staking.balance_change',
  });
  await service.tick();
  expect(log.join('')).toContain('the index goes on without it');
  lead.abort();
  await service.beforeApplicationShutdown();
});
