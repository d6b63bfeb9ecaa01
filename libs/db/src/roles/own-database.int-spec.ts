import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { ExcessRightsError } from './held-rights.js';
import { openOwnDatabase } from './own-database.js';

let test: TestDatabase;
const lines: string[] = [];
const logger = createLogger({
  app: 'test',
  level: 'warn',
  destination: { write: (line: string) => void lines.push(line) },
});

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const open = (nodeEnv: string, url = test.url) =>
  openOwnDatabase({ program: 'api', nodeEnv, logger }, { url, applicationName: 'own-database' });

async function connections(): Promise<number> {
  const admin = await test.open();
  const text = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'own-database'`;
  const [row] = await admin.query<{ count: number }>({ text });
  return row?.count ?? -1;
}

describe('the database of a program', () => {
  it('is refused to the owner in production, and nothing of it stays open', async () => {
    await expect(open('production')).rejects.toBeInstanceOf(ExcessRightsError);
    await eventually(async () => (await connections()) === 0);
  });

  it('is opened by the owner elsewhere, who is told', async () => {
    const database = await open('development');
    await database.close();
    expect(lines.join('')).toMatch(
      /"code":"DATABASE_RIGHTS_EXCESSIVE".*docs\/operating\/install\.md#database-users/,
    );
  });

  it('tells of a connection that was lost, without all that hangs on it', async () => {
    const database = await open('production', test.urlAs('api'));
    lines.length = 0;
    const admin = await test.open();
    await admin.query({
      text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'own-database'`,
    });
    await eventually(() => Promise.resolve(lines.length > 0));
    await database.close();
    const [line = ''] = lines;
    expect(JSON.parse(line)).toMatchObject({
      reason: expect.stringContaining('terminating connection') as unknown,
      msg: 'A database connection was lost',
    });
    expect(line.length).toBeLessThan(300);
  });
});
