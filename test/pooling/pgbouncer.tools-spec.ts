/** The pools of the api and of the redemption service behind a real PgBouncer in transaction mode. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  type DatabaseOptions,
  DatabaseUnavailableError,
  IndexStore,
  prepareLogins,
  RedemptionStore,
  SnapshotStore,
} from '#libs/db';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  PgBouncer,
  type TestDatabase,
} from '#libs/testing';
import {
  aKey,
  aNewRedemption,
  decided,
  someLimits,
  someWallet,
} from '../../libs/db/src/redemption/testing/builders.js';
import { ApiProgram } from '../restarts/api-program.js';

const POOL_SIZE = 2;

let test: TestDatabase;
let pooler: PgBouncer;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  pooler = await PgBouncer.start({
    ...{ url: test.url, poolSize: POOL_SIZE },
    users: ['test_api', 'test_redemption'],
  });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
afterAll(async () => {
  await pooler.stop();
  await test.drop();
});

async function open(
  program: 'api' | 'redemption',
  options: Partial<DatabaseOptions> = {},
): Promise<Database> {
  const database = await createDatabase({
    ...{ url: pooler.through(test.urlAs(program)), directUrl: test.urlAs(program) },
    ...{ applicationName: 'test', schema: 'current', readOnly: program === 'api' },
    ...options,
  });
  opened.push(database);
  return database;
}

function migrated(): Promise<string[]> {
  const urls = { api: test.urlAs('api'), redemption: test.urlAs('redemption') };
  return prepareLogins(test.url, urls, { isPooled: true });
}

describe('before `migrate` knows of the pooler', () => {
  it('no program starts with sessions that are not as it needs them', async () => {
    await expect(open('api')).rejects.toMatchObject({ code: 'SESSION_DEFAULTS_MISSING' });
    await expect(open('redemption')).rejects.toThrow('statement_timeout is 0, not 60000');
  });
});

describe('behind the pooler', () => {
  beforeAll(async () => {
    await migrated();
    // As RECONNECT on its console: sessions of before have the defaults of before.
    await pooler.stop();
    pooler = await PgBouncer.start({
      ...{ url: test.url, poolSize: POOL_SIZE },
      users: ['test_api', 'test_redemption'],
    });
  });

  it('sessions read only, under the reading role and its time limit', async () => {
    const database = await open('api');
    const [row] = await database.query({
      text: `SELECT current_user::text AS role, current_setting('statement_timeout') AS limit, current_setting('timezone') AS zone,
        current_setting('default_transaction_read_only') AS "readOnly"`,
    });
    expect(row).toEqual({ role: 'lowmark_reader', limit: '5s', zone: 'UTC', readOnly: 'on' });
  });

  it('forty processes read snapshots over two connections', async () => {
    const writer = await test.open();
    const store = new IndexStore(writer);
    await store.create(anInitialIndex());
    const fence = await store.takeLead();
    const day = { wallet: aWallet(1), day: 3, low: 3n, closing: 4n };
    const [previousHead, head] = [aBlock(0), aBlock(4)];
    await store.commit({
      ...{ fence, previousHead, head, total: 4n },
      ...{ changes: [], days: [day], blocks: [], synced: true },
    });
    const processes = await Promise.all(Array.from({ length: 40 }, () => open('api')));
    for (let round = 0; round < 5; round += 1) {
      const reads = await Promise.all(
        processes.map((one) => new SnapshotStore(one).read([{ wallet: aWallet(1), endDay: 10 }])),
      );
      expect(new Set(reads.map((read) => read?.daysTexts[0])).size).toBe(1);
      expect(reads[0]?.daysTexts[0]).toContain('3');
    }
    const rows = await writer.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'test_api' AND datname = current_database()`,
    });
    expect(rows[0]?.count).toBeLessThanOrEqual(POOL_SIZE);
  });

  it('redemptions are made, moved on and leased by several processes at once', async () => {
    const stores = await Promise.all(
      Array.from({ length: 8 }, async () => {
        return new RedemptionStore(await open('redemption'));
      }),
    );
    const shared = { partner: randomUUID(), wallet: someWallet() };
    const ends = await Promise.allSettled(
      stores.map((store) => store.create(aNewRedemption(shared), aKey(), someLimits())),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);

    const moved = await Promise.all(
      stores.map(async (store) => {
        const redemption = aNewRedemption();
        await store.create(redemption, aKey(), someLimits());
        const write = decided(redemption, { type: 'cancel', by: 'user' });
        await store.apply(write);
        return (await store.get(redemption.id))?.redemption.state === write.decision.next.state;
      }),
    );
    expect(moved).toEqual(stores.map(() => true));
  });

  it('a transaction that fails leaves nothing to the next one on its connection', async () => {
    const database = await open('redemption', { poolSize: 1 });
    const failing = database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = '1s'`);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const rows = await database.query({
      text: `SELECT current_setting('statement_timeout') AS limit`,
    });
    expect(rows).toEqual([{ limit: '1min' }]);
  });

  it('a pooler that is gone is a database that does not answer', async () => {
    const other = await PgBouncer.start({
      ...{ url: test.url, poolSize: 1 },
      users: ['test_redemption'],
    });
    const database = await open('redemption', { url: other.through(test.urlAs('redemption')) });
    await other.stop();
    await expect(database.query({ text: 'SELECT 1' })).rejects.toThrow(DatabaseUnavailableError);
  });

  it('the api starts, serves and ends', async () => {
    const api = await ApiProgram.start({
      databaseUrl: pooler.through(test.urlAs('api')),
      databaseDirectUrl: test.urlAs('api'),
      secretsKey: randomBytes(32).toString('base64'),
    });
    expect(await api.terminate()).toBe(0);
  });
});
