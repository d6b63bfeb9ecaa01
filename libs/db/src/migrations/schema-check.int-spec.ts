import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { createDatabase, migrate, readSchema } from '../index.js';
import { SchemaNewerError, SchemaOlderError, SchemaUnsupportedError } from './schema-check.js';

const NEWER = 'Tomorrow9000000000000';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase('empty');
});
afterEach(() => test.drop());

/** Leaves the schema like a newer program does. */
async function migrateByNewer(): Promise<void> {
  await migrate(test.url);
  const database = await test.open();
  await database.query(
    { text: `INSERT INTO lowmark.migration (timestamp, name) VALUES (9000000000000, $1)` },
    [NEWER],
  );
}

async function withoutMigration(name: string): Promise<void> {
  const database = await test.open({ schema: 'any' });
  await database.query({ text: 'DELETE FROM lowmark.migration WHERE name LIKE $1' }, [`${name}%`]);
}

function openService() {
  return createDatabase({ url: test.url, applicationName: 'service', schema: 'current' });
}

describe('a database that a newer program has migrated', () => {
  it('is refused by services, the reading ones too, with what to do', async () => {
    await migrateByNewer();
    for (const readOnly of [false, true]) {
      const opening = createDatabase({ url: test.url, applicationName: 'service', readOnly });
      await expect(opening).rejects.toThrow(SchemaNewerError);
      await expect(opening).rejects.toThrow(
        `migrated by a newer version of this program (${NEWER}). Start that version`,
      );
    }
    const { rows } = await (
      await test.open({ schema: 'any' })
    ).pool.query("SELECT FROM pg_stat_activity WHERE application_name = 'service'");
    expect(rows).toEqual([]);
  });

  it('is refused by migrate, which changes nothing', async () => {
    await migrateByNewer();
    const database = await test.open({ schema: 'any' });
    await withoutMigration('Staking');
    await expect(migrate(test.url)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    const { unknown, missing } = await readSchema(database);
    expect(unknown).toEqual([NEWER]);
    expect(missing).toEqual([expect.stringMatching(/^Staking/)]);
  });

  it('can be opened to look at it', async () => {
    await migrateByNewer();
    const database = await test.open({ schema: 'any' });
    expect(await readSchema(database)).toEqual({ unknown: [NEWER], accepted: [], missing: [] });
  });
});

describe('an older database', () => {
  it('is refused by services, with what to do', async () => {
    await expect(openService()).rejects.toThrow(SchemaOlderError);
    await migrate(test.url);
    await (await openService()).close();
    await withoutMigration('Staking');
    await expect(openService()).rejects.toThrow(
      /^The database lacks migrations of this program: Staking\d+\. Run `npm run migrate`/,
    );
  });

  it('is opened by commands: empty, and before the reading role could see the migrations', async () => {
    const empty = await test.open();
    expect((await readSchema(empty)).missing.length).toBeGreaterThan(0);
    await migrate(test.url);
    const writer = await test.open();
    await writer.query({ text: 'REVOKE USAGE ON SCHEMA lowmark FROM lowmark_reader' });
    const reader = await test.open({ readOnly: true });
    expect(await reader.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  });
});

describe('a database of a development version', () => {
  it('is refused by every program and by migrate, with what to do', async () => {
    await migrate(test.url);
    const database = await test.open({ schema: 'any' });
    await database.query({
      text: `INSERT INTO lowmark.migration (timestamp, name) VALUES (1769999999999, 'StakingIndex1769999999999')`,
    });
    const refused = { code: 'SCHEMA_UNSUPPORTED', retryable: false };
    await expect(openService()).rejects.toMatchObject(refused);
    for (const readOnly of [false, true]) {
      const opening = createDatabase({ url: test.url, applicationName: 'command', readOnly });
      await expect(opening).rejects.toThrow(SchemaUnsupportedError);
    }
    await expect(migrate(test.url)).rejects.toMatchObject(refused);
    await expect(readSchema(database)).rejects.toThrow('Make a new database');
  });

  it('is what is older than the first migration', async () => {
    await migrate(test.url);
    const database = await test.open();
    const text = 'SELECT min(timestamp)::float8 AS first FROM lowmark.migration';
    expect(await database.query({ text })).toEqual([{ first: 1_770_000_000_000 }]);
  });
});
