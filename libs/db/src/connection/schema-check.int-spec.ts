import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { createDatabase, migrate, readSchema, SchemaNewerError } from '../index.js';

const NEWER = 'Tomorrow9000000000000';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase('empty');
});
afterEach(() => test.drop());

/** As a newer program would leave it. */
async function migrateByNewer(): Promise<void> {
  await migrate(test.url);
  const database = await test.open();
  await database.query(
    { text: `INSERT INTO lowmark.migration (timestamp, name) VALUES (9000000000000, $1)` },
    [NEWER],
  );
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
      await test.open({ anySchema: true })
    ).pool.query("SELECT FROM pg_stat_activity WHERE application_name = 'service'");
    expect(rows).toEqual([]);
  });

  it('is refused by migrate, which changes nothing', async () => {
    await migrateByNewer();
    const database = await test.open({ anySchema: true });
    await database.dataSource.query(
      `DELETE FROM lowmark.migration WHERE name LIKE 'ReaderSeesSchema%'`,
    );
    await expect(migrate(test.url)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    const { unknown, missing } = await readSchema(database);
    expect(unknown).toEqual([NEWER]);
    expect(missing).toEqual([expect.stringMatching(/^ReaderSeesSchema/)]);
  });

  it('can be opened to look at it', async () => {
    await migrateByNewer();
    const database = await test.open({ anySchema: true });
    expect(await readSchema(database)).toEqual({ unknown: [NEWER], missing: [] });
  });
});

describe('an older database', () => {
  it('is opened: empty, and before the reading role could see the migrations', async () => {
    const empty = await test.open();
    expect((await readSchema(empty)).missing.length).toBeGreaterThan(0);
    await migrate(test.url);
    const writer = await test.open();
    await writer.query({ text: 'REVOKE USAGE ON SCHEMA lowmark FROM lowmark_reader' });
    const reader = await test.open({ readOnly: true });
    expect(await reader.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  });
});
