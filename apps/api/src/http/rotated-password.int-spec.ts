/** The password of the api's database user, replaced while the api runs. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { addPartner, type Api, seedIndex, startApi } from '../testing/api-harness.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const WALLET = aWallet(1);
const USER = `rotated_${randomBytes(4).toString('hex')}`;

let test: TestDatabase;
let owner: Database;
let api: Api;

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  const url = new URL(test.url);
  [url.username, url.password] = [USER, 'before'];
  await execute(`CREATE ROLE ${USER} LOGIN PASSWORD 'before' IN ROLE lowmark_reader`);
  api = await startApi({ DATABASE_URL: url.href }, test);
});
afterAll(async () => {
  await api.stop();
  await execute(`DROP ROLE ${USER}`);
  await test.drop();
});

const execute = (text: string): Promise<unknown> => owner.pool.query(text);

it('is refused with 503 until it is the api’s again, and every answer is signed', async () => {
  const events: [string, typeof WALLET, number][] = [['2026-11-10T10:00:00Z', WALLET, 1]];
  await seedIndex(api, { events, headAt: '2026-11-21T12:00:00Z' });
  const { apiKey, sharedSecret: secret } = await addPartner(api, 'rotated');
  const ask = async () => {
    const answer = await fetch(`${api.url}${PATH}?walletAddress=${WALLET}`, {
      headers: { 'x-api-key': apiKey },
    });
    const headers = Object.fromEntries(answer.headers);
    return { status: answer.status, headers, body: await answer.text() };
  };
  const answersWith = (status: number) => eventually(async () => (await ask()).status === status);
  await answersWith(200);

  await execute(`ALTER ROLE ${USER} PASSWORD 'after'`);
  await execute(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${USER}'`);
  api.clock.advance(60_000);
  const refused = await ask();
  expectError(refused, 503, 'SERVICE_UNAVAILABLE');
  expectSigned(refused, { method: 'GET', path: PATH, secret });
  expect(refused.headers['retry-after']).toMatch(/^\d+$/);
  expect(api.logs.join('')).toContain(`password authentication failed for user \\"${USER}\\"`);

  await execute(`ALTER ROLE ${USER} PASSWORD 'before'`);
  await answersWith(200);
});
