import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database } from '../connection/database.js';
import { createDatabase } from '../open/create-database.js';
import { countPrograms } from './server-facts.js';

let test: TestDatabase;
const opened: Database[] = [];

beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await test.drop();
});

async function open(applicationName: string, url = test.url): Promise<Database> {
  const database = await createDatabase({ url, applicationName, readOnly: true });
  opened.push(database);
  return database;
}

describe('countPrograms', () => {
  it('counts each program once, however many connections it has, and none of another name', async () => {
    const one = await open('lowmark test a');
    await Promise.all([1, 2, 3].map(() => one.query({ text: 'SELECT pg_sleep(0.05)' })));
    await open('lowmark other');
    expect(await countPrograms(one, 'lowmark test ')).toBe(1);
    const other = await open('lowmark test b');
    expect(await countPrograms(one, 'lowmark test ')).toBe(2);
    opened.splice(opened.indexOf(other), 1);
    await other.close();
    // The server notices the end of a connection with some delay.
    while ((await countPrograms(one, 'lowmark test ')) > 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('counts them by the names that they have here, whatever the URL calls them', async () => {
    const url = new URL(test.url);
    url.searchParams.set('application_name', 'of the operator');
    url.searchParams.set('options', '-c application_name=of-the-operator');
    const one = await open('lowmark test a', url.href);
    await open('lowmark test b', url.href);
    expect(await countPrograms(one, 'lowmark test ')).toBe(2);
  });
});
