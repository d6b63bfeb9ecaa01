/** What any user of the server may take of it without a right of ours. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  createDatabase,
  type Database,
  migrate,
  prepareLogins,
  PROGRAMS,
  type Program,
} from '../index.js';

let test: TestDatabase;
let owner: Database;
let suffix: string;
let made: string[];

beforeEach(async () => {
  test = await createTestDatabase('empty');
  owner = await test.open();
  suffix = randomBytes(4).toString('hex');
  made = [];
});
afterEach(async () => {
  for (const user of made) {
    await owner.query({ text: `DROP OWNED BY ${user} CASCADE` });
    await owner.query({ text: `DROP ROLE ${user}` });
  }
  await test.drop();
});

function loginUrls(): Record<Program, string> {
  const urls = PROGRAMS.map((program) => {
    const url = new URL(test.url);
    [url.username, url.password] = [`${program}_${suffix}`, 'of-the-test'];
    return [program, url.href];
  });
  return Object.fromEntries(urls) as Record<Program, string>;
}

describe('prepareLogins', () => {
  it('leaves the portal few connections, or as many as an administrator says', async () => {
    await migrate(test.url);
    const { portal } = loginUrls();
    made.push(`portal_${suffix}`);
    await prepareLogins(test.url, { portal });
    const opened = Array.from({ length: 21 }, () => new Client({ connectionString: portal }));
    try {
      for (const client of opened.slice(0, 20)) await client.connect();
      await expect(opened[20]?.connect()).rejects.toMatchObject({ code: '53300' });
    } finally {
      for (const client of opened.slice(0, 20)) await client.end();
    }
    await owner.query({ text: `ALTER ROLE portal_${suffix} CONNECTION LIMIT 7` });
    await prepareLogins(test.url, { portal });
    const limit = { text: `SELECT rolconnlimit FROM pg_roles WHERE rolname = 'portal_${suffix}'` };
    expect(await owner.query(limit)).toEqual([{ rolconnlimit: 7 }]);
  });

  it('leaves no program temporary tables', async () => {
    await migrate(test.url);
    const urls = loginUrls();
    made.push(...PROGRAMS.map((program) => `${program}_${suffix}`));
    await prepareLogins(test.url, urls);
    for (const url of Object.values(urls)) {
      const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
      try {
        const made = database.query({ text: 'CREATE TEMPORARY TABLE mine (a int)' });
        await expect(made).rejects.toMatchObject({ sqlState: '42501' });
      } finally {
        await database.close();
      }
    }
  });
});
