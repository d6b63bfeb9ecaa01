/**
 * The rights that a program of this version has where a newer version has migrated, and the effect of this
 * version's `migrate` there.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Database,
  excessRights,
  migrate,
  prepareLogins,
  PROGRAM_ROLES,
  PROGRAMS,
} from '../index.js';
import { ExcessRightsError, requireOwnRights } from './held-rights.js';

const NAME = 'Tomorrow9000000000000';
/** Each new table is granted to the programs that use it. The reading role gets new tables of `staking` by itself. */
const NEWER = [
  'CREATE TABLE staking.tomorrow (at timestamptz)',
  'CREATE TABLE redemption.tomorrow (at timestamptz)',
  `GRANT SELECT, INSERT, DELETE ON staking.tomorrow, redemption.tomorrow TO ${Object.values(PROGRAM_ROLES).join(', ')}`,
  'CREATE VIEW portal.tomorrow AS SELECT 1 AS one',
  'GRANT SELECT ON portal.tomorrow TO lowmark_portal',
];

let test: TestDatabase;
let owner: Database;
beforeEach(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  for (const text of NEWER) await owner.query({ text });
});
afterEach(() => test.drop());

/** Does the same as the newer version's `migrate`, followed by its `migrate --let-older-start`. */
async function migrateByNewer(): Promise<void> {
  const text =
    'INSERT INTO lowmark.migration (timestamp, name, older_may_start) VALUES (9000000000000, $1, true)';
  await owner.query({ text }, [NAME]);
}

const inProduction = { isProduction: true, onExcess: () => undefined };

describe('on the schema of a newer version', () => {
  it.each(PROGRAMS.filter((program) => program !== 'portal'))(
    'the %s starts in production with rights on tables that it does not know',
    async (program) => {
      const own = await test.open({ url: test.urlAs(program), poolSize: 1 });
      await expect(requireOwnRights(own, program, inProduction)).rejects.toThrow(
        'on staking.tomorrow',
      );
      await migrateByNewer();
      await requireOwnRights(own, program, inProduction);
      expect(await excessRights(own, program)).toEqual([]);
    },
  );

  it('a right that is too much on a known table is refused as before', async () => {
    await migrateByNewer();
    await owner.query({ text: 'GRANT SELECT ON redemption.session TO lowmark_reader' });
    const own = await test.open({ url: test.urlAs('api'), poolSize: 1 });
    await expect(requireOwnRights(own, 'api', inProduction)).rejects.toBeInstanceOf(
      ExcessRightsError,
    );
    expect(await excessRights(own, 'api')).toEqual(['SELECT on redemption.session']);
  });

  it('migrate of this version makes users, takes what is too much on known tables, and leaves the others', async () => {
    await migrateByNewer();
    await owner.query({ text: 'GRANT SELECT ON redemption.session TO lowmark_reader' });
    const suffix = randomBytes(4).toString('hex');
    const urls = PROGRAMS.map((program) => {
      const url = new URL(test.url);
      [url.username, url.password] = [`${program}_${suffix}`, 'of-the-test'];
      return [program, url.href] as const;
    });
    const users = PROGRAMS.map((program) => `${program}_${suffix}`);
    try {
      expect(await migrate(test.url)).toEqual([]);
      expect(await prepareLogins(test.url, Object.fromEntries(urls))).toEqual(users);
      const may = async (user: string, table: string, privilege: string) =>
        (
          await owner.query<{ may: boolean }>(
            { text: 'SELECT has_table_privilege($1, $2, $3) AS may' },
            [user, table, privilege],
          )
        )[0]?.may;
      expect(await may(`api_${suffix}`, 'redemption.session', 'SELECT')).toBe(false);
      expect(await may(`api_${suffix}`, 'staking.tomorrow', 'DELETE')).toBe(true);
      expect(await may(`portal_${suffix}`, 'portal.tomorrow', 'SELECT')).toBe(true);
    } finally {
      for (const user of users) {
        await owner.query({ text: `DROP OWNED BY ${user}` });
        await owner.query({ text: `DROP ROLE ${user}` });
      }
    }
  });
});
