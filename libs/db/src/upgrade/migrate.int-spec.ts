import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { migrate } from '../index.js';
import { SCHEMAS } from '../roles/rights.js';

const run = promisify(execFile);
const ALL = ['Schema1770000000000', 'Staking1770000000001'];

/** Runs the migration in another process, from the compiled program. */
async function migrateElsewhere(url: string): Promise<string[]> {
  const program = `
    const { migrate } = await import('#libs/db');
    console.log(JSON.stringify(await migrate(process.argv[1])));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, url]);
  return JSON.parse(stdout) as string[];
}

describe('migrate', () => {
  let databases: TestDatabase[];

  beforeAll(async () => {
    databases = await Promise.all([createTestDatabase('empty'), createTestDatabase('empty')]);
  });
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  it('is applied once by processes that start together, also on two databases of one server', async () => {
    const urls = databases.map(({ url }) => url);
    const answers = await Promise.all(
      [...urls, ...urls].map(async (url) => ({ url, applied: await migrateElsewhere(url) })),
    );
    for (const url of urls) {
      const applied = answers.filter((answer) => answer.url === url).map((one) => one.applied);
      expect(applied.sort((a, b) => b.length - a.length)).toEqual([ALL, []]);
    }
  });

  it('does nothing the second time', async () => {
    expect(await migrate(databases[0]?.url ?? '')).toEqual([]);
  });

  it('tells an owner without the right to the reading role what an administrator has to do', async () => {
    const [database] = databases;
    const admin = await database?.open();
    const user = `owner_${randomBytes(4).toString('hex')}`;
    const url = new URL(database?.url ?? '');
    const name = url.pathname.slice(1);
    for (const schema of SCHEMAS) {
      await admin?.query({ text: `DROP SCHEMA IF EXISTS ${schema} CASCADE` });
    }
    await admin?.query({ text: `CREATE ROLE ${user} LOGIN PASSWORD 'x'` });
    await admin?.query({ text: `GRANT ALL ON DATABASE ${name} TO ${user}` });
    [url.username, url.password] = [user, 'x'];
    await expect(migrate(url.href)).rejects.toThrow(
      `let an administrator run GRANT lowmark_reader TO ${user}`,
    );
    await admin?.query({ text: `GRANT lowmark_reader TO ${user}` });
    expect(await migrate(url.href)).toEqual(ALL);
    const reader = await database?.open({ url: url.href, readOnly: true });
    const read = {
      text: 'SELECT current_user::text AS role, count(*)::int AS rows FROM staking.price',
    };
    expect(await reader?.query(read)).toEqual([{ role: 'lowmark_reader', rows: 0 }]);
    await admin?.query({ text: `DROP OWNED BY ${user}` });
    await admin?.query({ text: `DROP ROLE ${user}` });
  });
});
