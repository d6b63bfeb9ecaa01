/** What every user of the server can take from it without a right on our tables. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createDatabase, migrate, prepareLogins, PROGRAMS } from '../index.js';
import { Logins } from './logins.support.js';

let logins: Logins;

beforeEach(async () => {
  logins = await Logins.start();
});
afterEach(() => logins.stop());

describe('prepareLogins', () => {
  it('leaves the portal few connections, or as many as an administrator says', async () => {
    const { test, owner, made, suffix } = logins;
    await migrate(test.url);
    const { portal } = logins.urls();
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
    const { test, made } = logins;
    await migrate(test.url);
    const urls = logins.urls();
    made.push(...PROGRAMS.map((program) => logins.userOf(program)));
    await prepareLogins(test.url, urls);
    for (const url of Object.values(urls)) {
      const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
      try {
        const temporary = database.query({ text: 'CREATE TEMPORARY TABLE mine (a int)' });
        await expect(temporary).rejects.toMatchObject({ sqlState: '42501' });
      } finally {
        await database.close();
      }
    }
  });
});
