import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AuditLog, type Database, SignInLog } from '#libs/db';
import { HttpProblem } from '#libs/service';
import { eventually, FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { SignInAudit } from './sign-in-audit.js';

/** The lock under which refused sign-ins are noted. */
const LOCK = '4219, 2';
const REFUSED = new HttpProblem(403, 'no operator', { code: 'NOT_AN_OPERATOR' });
const HOUR_MS = 3_600_000;

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 5 });
});
afterAll(() => test.drop());

it('says of each refusal that was not noted once, also where others are noted meanwhile', async () => {
  const clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
  const audit = new SignInAudit(new SignInLog(database), clock);
  const refuse = (): Promise<void> =>
    audit.noteRefused(REFUSED, { by: 'wallet', from: '10.0.0.1' });
  // Five of an address are noted in an hour, and two are not.
  for (let count = 0; count < 7; count++) await refuse();
  clock.advance(HOUR_MS);
  const holder = await database.pool.connect();
  await holder.query(`SELECT pg_advisory_lock(${LOCK})`);
  const refusals = [refuse(), refuse()];
  await eventually(async () => {
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 4219 AND NOT granted`;
    return (await database.query({ text: waiting })).length === refusals.length;
  });
  await holder.query(`SELECT pg_advisory_unlock(${LOCK})`);
  holder.release();
  await Promise.all(refusals);
  const { entries } = await new AuditLog(database).newest({}, { limit: 100 });
  const unnoted = entries.map((entry) => (entry.arguments as { unnoted?: number }).unnoted ?? 0);
  expect(unnoted.reduce((sum, one) => sum + one, 0)).toBe(2);
});
