import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { createDatabase, migrate, readSchema } from '../index.js';
import { migrations } from '../migrations/index.js';
import { letOlderStart } from './migrate.js';
import { aMigration } from '../migrations/next-migration.support.js';

const ADDED = 'Added8000000000000';
const HARMLESS = 'Tomorrow9000000000000';
const HARD = 'DayAfter9000000000001';

/** The migrations of a newer program; ADDED is applied in the tests that say so, the others are not. */
const NEXT = [
  ...migrations,
  aMigration({
    name: ADDED,
    statements: ['CREATE TABLE partners.added (at timestamptz)'],
    olderMayStart: true,
  }),
];
const NEWER = [
  ...NEXT,
  aMigration({ name: HARMLESS, olderMayStart: true }),
  aMigration({ name: HARD }),
];

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(() => test.drop());

async function record(...names: string[]): Promise<void> {
  const database = await test.open({ schema: 'any' });
  for (const name of names) {
    const text = 'INSERT INTO lowmark.migration (timestamp, name) VALUES (9000000000000, $1)';
    await database.query({ text }, [name]);
  }
}

async function starts(): Promise<boolean> {
  for (const readOnly of [false, true]) {
    try {
      const opened = await createDatabase({ url: test.url, applicationName: 'old', readOnly });
      await opened.close();
    } catch (error) {
      expect(error).toMatchObject({ code: 'SCHEMA_NEWER' });
      return false;
    }
  }
  return true;
}

/** Does the same as the newer program, for whose own check this database is not newer. */
async function accept(...names: string[]): Promise<void> {
  const database = await test.open({ schema: 'any' });
  const text = 'UPDATE lowmark.migration SET older_may_start = true WHERE name = ANY ($1)';
  await database.query({ text }, [names]);
}

describe('an older program', () => {
  it('starts where each migration that it does not know was accepted', async () => {
    await record(HARMLESS, HARD);
    expect(await starts()).toBe(false);
    await accept(HARMLESS);
    expect(await starts()).toBe(false);
    await accept(HARD);
    expect(await starts()).toBe(true);
    const database = await test.open();
    expect(await readSchema(database)).toEqual({
      unknown: [HARMLESS, HARD],
      accepted: [HARMLESS, HARD],
      missing: [],
    });
  });

  it('migrates first, as it always does: nothing, and it may start after it', async () => {
    await record(HARMLESS);
    await expect(migrate(test.url)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    await accept(HARMLESS);
    expect(await migrate(test.url)).toEqual([]);
    expect(await starts()).toBe(true);
  });
});

describe('letOlderStart', () => {
  it('accepts what allows it, of what is applied, and all or none of it', async () => {
    expect(await migrate(test.url, { known: NEXT })).toEqual([ADDED]);
    const database = await test.open({ schema: 'any' });
    const accepted = async () =>
      database.query({ text: 'SELECT name FROM lowmark.migration WHERE older_may_start' });
    const names = [ADDED];
    await expect(letOlderStart(test.url, [...names, HARMLESS], NEWER)).rejects.toMatchObject({
      code: 'OLDER_REFUSED',
      message: expect.stringContaining(HARMLESS),
    });
    expect(await accepted()).toEqual([]);
    expect(await starts()).toBe(false);
    await letOlderStart(test.url, names, NEXT);
    expect(await accepted()).toEqual([{ name: ADDED }]);
    expect(await starts()).toBe(true);
    expect(await migrate(test.url)).toEqual([]);
    expect(await starts()).toBe(true);
    expect(await migrate(test.url, { known: NEXT })).toEqual([]);
    expect(await accepted()).toEqual([]);
    expect(await starts()).toBe(false);
  });

  it.each([
    [HARD, `An older program would be wrong on the schema after ${HARD}`],
    ['Nothing1', 'Nothing1 is no migration of this program: the newest one knows it'],
  ])('refuses %s', async (name, message) => {
    await expect(letOlderStart(test.url, [name], NEWER)).rejects.toThrow(message);
  });
});
