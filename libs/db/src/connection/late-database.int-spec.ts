/** A program that starts while its database is unavailable, and connects later. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import { createDatabase } from '../index.js';
import { type Database } from './database.js';
import { DatabaseUnavailableError } from './database.error.js';
import { LateDatabase } from './late-database.js';

const ONE = { text: 'SELECT 1 AS one' };

let test: TestDatabase;
let url: URL;
let link: TcpLink;

beforeAll(async () => {
  test = await createTestDatabase();
  url = new URL(test.url);
  link = new TcpLink({ host: url.hostname, port: Number(url.port) });
  await link.open();
  url.port = String(link.port);
});
afterAll(async () => {
  await link.close();
  await test.drop();
});

/** A late database that counts the attempts to open it and collects the opened databases. */
function aLateDatabase() {
  const opened: Database[] = [];
  let attempts = 0;
  const late = new LateDatabase(async () => {
    attempts += 1;
    const database = await createDatabase({
      ...{ url: url.href, applicationName: 'test', poolSize: 2, schema: 'current' },
    });
    opened.push(database);
    return database;
  });
  return { late, opened, attempts: () => attempts };
}

async function eachOf(database: Database): Promise<object[]> {
  const rows: object[] = [];
  await database.queryEach(ONE, (row) => rows.push(row));
  return rows;
}

describe('LateDatabase', () => {
  it('is of use as soon as the database is there, to all who ask, by one connection attempt', async () => {
    await link.close();
    const { late, opened, attempts } = aLateDatabase();
    try {
      await expect(late.open()).rejects.toThrow(DatabaseUnavailableError);
      await expect(late.query(ONE)).rejects.toThrow(DatabaseUnavailableError);
      await expect(late.inSet('golf').query(ONE)).rejects.toThrow(DatabaseUnavailableError);
      expect(late.connections).toEqual({ idle: 0, busy: 0, waiting: 0 });
      expect(opened).toHaveLength(0);
      const before = attempts();

      await link.open();
      const read = await Promise.all([
        late.query(ONE),
        eachOf(late),
        late.entities((manager) => manager.query(ONE.text)),
        late.transaction(async (client) => (await client.query<object>(ONE.text)).rows),
        late.inSet('golf').query(ONE),
      ]);
      expect(read).toEqual(Array.from({ length: 5 }, () => [{ one: 1 }]));
      expect(attempts() - before).toBe(1);
      expect(late.connections.idle).toBeGreaterThan(0);
    } finally {
      await late.close();
      if (link.port !== 0) await link.open().catch(() => undefined);
    }
  });

  it('goes on where the database goes away and comes back, on the same pool', async () => {
    const { late, attempts } = aLateDatabase();
    try {
      await late.query(ONE);
      await link.close();
      await expect(late.query(ONE)).rejects.toThrow(DatabaseUnavailableError);
      await link.open();
      expect(await late.query(ONE)).toEqual([{ one: 1 }]);
      expect(attempts()).toBe(1);
    } finally {
      await late.close();
    }
  });

  it('opens nothing once it is closed, and closes what was being opened', async () => {
    const { late, opened } = aLateDatabase();
    const opening = late.open();
    await late.close();
    await expect(opening).rejects.toThrow('the program stops');
    await expect(late.query(ONE)).rejects.toThrow('the program stops');
    expect(opened).toHaveLength(1);
    await expect(opened[0]?.query(ONE)).rejects.toThrow();
  });
});
