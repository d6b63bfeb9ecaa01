import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, DatabaseRefusedError } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { OptionError } from '../operation.error.js';
import { audited } from './audited.js';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterAll(() => test.drop());

describe('a command that is refused', () => {
  const refusal = new OptionError('More than the most.');
  const refused = (actor: string): Promise<never> =>
    audited(database, { actor, command: 'partner set' }, {}, () => Promise.reject(refusal));

  it('leaves an audit row', async () => {
    await expect(refused('operator:ann')).rejects.toBe(refusal);
    const { rows } = await database.pool.query('SELECT actor, outcome FROM redemption.audit');
    expect(rows).toEqual([{ actor: 'operator:ann', outcome: 'refused: OPTION_INVALID' }]);
  });

  it('says why also where the row is refused too', async () => {
    await database.pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no audit today'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON redemption.audit EXECUTE FUNCTION refuse()`);
    await expect(
      database.query({ text: 'INSERT INTO redemption.audit (actor) VALUES ($1)' }, ['x']),
    ).rejects.toThrow(DatabaseRefusedError);
    await expect(refused('operator:bob')).rejects.toBe(refusal);
  });
});
