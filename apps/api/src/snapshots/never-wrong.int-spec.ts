import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { clearFindings, type Database, IndexStore, recordFinding } from '#libs/db';
import { foldBlocks } from '#libs/domain';
import { hashApiKey, type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aBlock, aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  NOON_MS,
  seconds,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const ALICE = aWallet(1);
const EVENTS: Seed['events'] = [['2026-11-10T10:00:00Z', ALICE, 100]];

let api: Api;
let partner: MintedCredential;

async function start(overrides: Record<string, string> = {}): Promise<void> {
  api = await startApi(overrides);
  partner = await addPartner(api, 'careful');
}
afterEach(() => api.stop());

const ask = (wallet = ALICE): request.Test =>
  request(api.url).get(PATH).query({ walletAddress: wallet }).set('X-API-KEY', partner.apiKey);

function expectUnavailable(
  response: Response,
  retryAfter: number,
  secret = partner.sharedSecret,
): void {
  expect(response.status).toBe(503);
  expect(response.body).toMatchObject({ success: false, code: 'SERVICE_UNAVAILABLE' });
  expect(response.headers['retry-after']).toBe(String(retryAfter));
  expectSigned(response, { method: 'GET', path: PATH, secret });
}

describe('503 rather than a wrong snapshot', () => {
  it('before the first sync is complete, also for a wallet that seems never to have staked', async () => {
    await start();
    // There is no index at all.
    expectUnavailable(await ask(), 30);
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z', synced: false });
    expectUnavailable(await ask(), 30);
    expectUnavailable(await ask(aWallet(9)), 30);
    const ready = await request(api.url).get('/health/ready').expect(503);
    expect(ready.body.reasons).toEqual(['index: is not complete yet']);
  });

  it('while the index is behind the window, though not while it is close to the clock', async () => {
    await start();
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-20T23:59:00Z' });
    expectUnavailable(await ask(), 5);
    api.clock.set(Date.parse('2026-11-21T00:01:00.000Z'));
    const close = await ask().expect(200);
    expect(close.headers['x-index-final']).toBe('false');
    await request(api.url).get('/health/ready').expect(200);
    api.clock.set(Date.parse('2026-11-21T00:01:00.001Z'));
    expectUnavailable(await ask(), 5);
    const ready = await request(api.url).get('/health/ready').expect(503);
    expect(ready.body.reasons).toEqual(['index: is behind the chain']);
  });

  it('while the clock of this machine is behind the index, and says that it is the clock', async () => {
    await start();
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
    api.clock.set(Date.parse('2026-11-21T10:00:01.000Z'));
    const answer = await ask();
    expectUnavailable(answer, 30);
    expect(answer.body.message).toContain('The clock of this server is behind');
    const { body } = await request(api.url).get('/health/ready').expect(503);
    expect(body.reasons).toEqual([
      'index: is 7199 s ahead of the clock of this machine: let it follow a time server (NTP)',
    ]);
    expect(body.checks.index.details).toEqual({ block: '1000' });
    api.clock.set(Date.parse('2026-11-21T11:59:58.000Z'));
    await ask().expect(200);
    const close = await request(api.url).get('/health/ready').expect(200);
    expect(close.body.checks.index.details).toEqual({ block: '1000', lagSeconds: 0 });
  });

  it('after the index has stopped, whatever it covers', async () => {
    await start();
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
    await ask().expect(200);
    const index = new IndexStore(await api.database.open());
    await index.halt(await index.takeLead(), 'a reason for operators');
    const response = await ask();
    expectUnavailable(response, 60);
    expect(response.text).not.toContain('operators');
  });
});

it('what a check has found to be wrong is not answered, also if it is cached, and the rest is', async () => {
  await start();
  const other = aWallet(2);
  const events: Seed['events'] = [...EVENTS, ['2026-11-10T11:00:00Z', other, 7]];
  await seedIndex(api, { events, headAt: '2026-11-21T12:00:00Z' });
  const database = await api.database.open();
  const history = (wallet: string): request.Test =>
    request(api.url)
      .get(`/api/staking/history?walletAddress=${wallet}`)
      .set('X-API-KEY', partner.apiKey);
  const batch = (...walletAddresses: string[]): request.Test =>
    request(api.url)
      .post(`${PATH}/batch`)
      .set('X-API-KEY', partner.apiKey)
      .send({ walletAddresses });
  for (const wallet of [ALICE, other]) await ask(wallet).expect(200);
  await batch(ALICE, other).expect(200);

  await recordFinding(database, [ALICE], 'test');
  expectUnavailable(await ask(), 60);
  await history(ALICE).expect(503);
  await batch(ALICE, other).expect(503);
  await ask(other).expect(200);
  await history(other).expect(200);
  await batch(other).expect(200);
  await clearFindings(database, [ALICE]);
  await ask().expect(200);

  // Only a sum is known to differ, so every wallet may be wrong.
  await recordFinding(database, 'all', 'test');
  for (const wallet of [ALICE, other, aWallet(9)]) await ask(wallet).expect(503);
  await clearFindings(database, [ALICE]);
  await ask(other).expect(503);
  await clearFindings(database, 'all');
  await ask(other).expect(200);
});

it('a wallet that was not found has an answer once its first stake is indexed', async () => {
  await start();
  const finalisedAt = '2026-11-15T00:00:00Z';
  await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z', finalisedAt });
  const wallet = aWallet(2);
  // The second answer comes from the cache.
  for (let times = 0; times < 2; times++) await ask(wallet).expect(404);
  const index = new IndexStore(await api.database.open());
  const { fence, head: previousHead } = (await index.state()) ?? {};
  if (fence === undefined || previousHead === undefined) throw new Error('there is an index');
  const head = aBlock(1001, seconds('2026-11-21T12:00:01Z'));
  const { number: blockNumber, timestampSeconds } = head;
  const block = { blockNumber, timestampSeconds, deltas: [{ wallet, amount: 5n }] };
  const folded = foldBlocks(new Map(), [block]);
  await index.commit({ fence, previousHead, head, blocks: [head], folded, synced: true });
  const { body } = await ask(wallet).expect(200);
  expect(body.averageStakedAmount).toBe(0);
  const isFinal = async (endDay: string): Promise<unknown> =>
    (await ask().query({ endDay }).expect(200)).headers['x-index-final'];
  expect([await isFinal('2026-11-14'), await isFinal('2026-11-15')]).toEqual(['true', 'false']);
});

describe('a database that is gone', () => {
  it('is a signed 503 for callers known and unknown, and all is well once it is back', async () => {
    await start();
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
    await ask().expect(200);
    await api.link.close();
    expectUnavailable(await ask(), 5);
    // The cached credential is overdue for a look-up, but the answers are still signed with its secret.
    api.clock.advance(60_000);
    expectUnavailable(await ask(), 5);
    const stranger = `svck_${'s'.repeat(43)}`;
    expectUnavailable(await ask().set('X-API-KEY', stranger), 5, ANON_SECRET);
    await request(api.url).get(PATH).expect(401);
    const ready = await request(api.url).get('/health/ready').expect(503);
    expect(ready.body.reasons).toEqual(['index: failed (DATABASE_UNAVAILABLE)']);
    await request(api.url).get('/health/live').expect(200);
    expect(api.logs.join('')).toContain('DATABASE_UNAVAILABLE');
    expect(api.logs.join('')).not.toMatch(/parsedStatements|connectionParameters/);
    await api.link.open();
    api.clock.set(NOON_MS + 62_000);
    await ask().expect(200);
    await ask().set('X-API-KEY', stranger).expect(401);
  });

  it('lets the role of the api read only; what it refuses is a bare 500, signed, with the reason in the log only', async () => {
    await start();
    const database = await api.database.open();
    const reader = await api.database.open({ readOnly: true });
    await expect(
      reader.pool.query('SET transaction_read_only = off; DELETE FROM partners.credential'),
    ).rejects.toThrow('permission denied');
    await ask().expect(503);
    await database.pool.query('DROP TABLE staking.balance_day');
    const response = await ask().set('X-Request-Id', 'mine-2').expect(500);
    expect(response.text).toBe(
      '{"code":"INTERNAL_SERVER_ERROR","message":"Internal server error","success":false}',
    );
    expectSigned(response, { method: 'GET', path: PATH, secret: partner.sharedSecret });
    const lines = api.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    const ofTheRequest = lines.filter(({ requestId }) => requestId === 'mine-2');
    expect(ofTheRequest).toMatchObject([{ msg: 'A request failed' }]);
    expect(JSON.stringify(ofTheRequest)).toContain('DATABASE_REFUSED');
  });
});

describe('a database user whose password is replaced', () => {
  const USER = `rotated_${randomBytes(4).toString('hex')}`;
  let test: TestDatabase;
  let owner: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    owner = await test.open();
  });
  afterAll(async () => {
    await execute(`DROP ROLE ${USER}`);
    await test.drop();
  });
  const execute = (text: string): Promise<unknown> => owner.pool.query(text);

  it('is refused with 503 until it has the new one', async () => {
    await execute(`CREATE ROLE ${USER} LOGIN PASSWORD 'before' IN ROLE lowmark_reader`);
    const url = new URL(test.url);
    [url.username, url.password] = [USER, 'before'];
    api = await startApi({ DATABASE_URL: url.href }, test);
    partner = await addPartner(api, 'rotated');
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
    await ask().expect(200);

    await execute(`ALTER ROLE ${USER} PASSWORD 'after'`);
    await execute(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${USER}'`,
    );
    api.clock.advance(60_000);
    expectUnavailable(await ask(), 5);
    expect(api.logs.join('')).toContain(`password authentication failed for user \\"${USER}\\"`);

    await execute(`ALTER ROLE ${USER} PASSWORD 'before'`);
    await eventually(async () => (await ask()).status === 200);
  });
});

describe('a revoked key', () => {
  it('stops working after a few seconds', async () => {
    await start();
    await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
    await ask().expect(200);
    const database = await api.database.open();
    await database.pool.query(
      'UPDATE partners.credential SET revoked_at = now() WHERE key_hash = $1',
      [hashApiKey(partner.apiKey)],
    );
    api.clock.advance(4999);
    await ask().expect(200);
    api.clock.advance(1);
    const response = await ask().expect(401);
    expectSigned(response, { method: 'GET', path: PATH, secret: ANON_SECRET });
  });
});
