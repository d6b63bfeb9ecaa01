import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import { RedemptionStore } from '../index.js';
import { RedemptionHints } from './redemption-hints.js';
import { aKey, aNewRedemption, someLimits } from './testing/builders.js';

const LISTENER = { onHint: () => undefined, onLost: () => undefined };

let test: TestDatabase;
let link: TcpLink;
let hints: RedemptionHints;

beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  const url = new URL(test.url);
  link = new TcpLink({ host: url.hostname, port: Number(url.port) });
  await link.open();
  url.host = `127.0.0.1:${link.port}`;
  hints = new RedemptionHints({ url: url.href, applicationName: 'hints' });
});
afterEach(async () => {
  await hints.stop();
  await link.close();
});
afterAll(() => test.drop());

async function connections(): Promise<number> {
  const database = await test.open();
  const text = `SELECT FROM pg_stat_activity WHERE application_name = 'hints'`;
  return (await database.query({ text })).length;
}

it('listens by one connection, however often it is started while it connects', async () => {
  link.cut();
  const starts = [hints.start(LISTENER), hints.start(LISTENER)];
  link.resume();
  await Promise.all(starts);
  expect(await connections()).toBe(1);
});

it('does not listen after it was stopped', async () => {
  const unavailable = { code: 'DATABASE_UNAVAILABLE' };
  link.cut();
  const started = expect(hints.start(LISTENER)).rejects.toMatchObject(unavailable);
  await hints.stop();
  await started;
  link.resume();
  await expect(hints.start(LISTENER)).rejects.toMatchObject(unavailable);
  expect(await connections()).toBe(0);
});

it('tells of a new redemption, and of the loss of its connection', async () => {
  let count = 0;
  const lost: Error[] = [];
  const listener = { onHint: () => (count += 1), onLost: (error: Error) => lost.push(error) };
  await hints.start(listener);
  const database = await test.open();
  await new RedemptionStore(database).create(aNewRedemption(), aKey(), someLimits());
  await eventually(() => count > 0);
  await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hints'`,
  );
  await eventually(() => lost.length > 0);
  await hints.start(listener);
  await hints.stop();
  expect(lost).toHaveLength(1);
});
