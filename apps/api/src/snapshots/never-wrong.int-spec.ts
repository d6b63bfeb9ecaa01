import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { clearFindings, IndexStore, recordFinding } from '#libs/db';
import { type Address, foldBlocks } from '#libs/domain';
import { hashApiKey, type MintedCredential } from '#libs/signing';
import { aBlock, aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  NOON_MS,
  seconds,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectError, type RawAnswer } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const [ALICE, OTHER] = [aWallet(1), aWallet(2)];

let api: Api;
let partner: MintedCredential;

beforeEach(async () => {
  api = await startApi();
  partner = await addPartner(api, 'careful');
});
afterEach(() => api.stop());

const ask = (wallet = ALICE, by = partner): Promise<RawAnswer> =>
  api.as(by).ask(`${PATH}?walletAddress=${wallet}`);
const statusOf = async (asked: Promise<RawAnswer>): Promise<number> => (await asked).status;

async function expectUnavailable(asked: Promise<RawAnswer>, retryAfter: number): Promise<string> {
  const answer = await asked;
  expectError(answer, 503, 'SERVICE_UNAVAILABLE');
  expect(answer.headers['retry-after']).toBe(String(retryAfter));
  return answer.body;
}

interface Ready {
  readonly reasons: string[];
  readonly checks: { readonly index: { readonly details?: object } };
}

async function ready(): Promise<Ready & { readonly status: number }> {
  const { status, body } = await api.as().ask('/health/ready');
  return { ...(JSON.parse(body) as Ready), status };
}

describe('503 rather than a wrong snapshot', () => {
  it('before the first sync is complete, also for a wallet that seems never to have staked', async () => {
    // There is no index at all.
    await expectUnavailable(ask(), 30);
    await seedIndex(api, { synced: false });
    await expectUnavailable(ask(), 30);
    await expectUnavailable(ask(OTHER), 30);
    expect(await ready()).toMatchObject({ status: 503, reasons: ['index: is not complete yet'] });
  });

  it('while the index is behind the window, though not while it is close to the clock', async () => {
    await seedIndex(api, { headAt: '2026-11-20T23:59:00Z' });
    await expectUnavailable(ask(), 5);
    api.clock.set(Date.parse('2026-11-21T00:01:00.000Z'));
    expect(await ask()).toMatchObject({ status: 200, headers: { 'x-index-final': 'false' } });
    expect(await ready()).toMatchObject({ status: 200 });
    api.clock.set(Date.parse('2026-11-21T00:01:00.001Z'));
    await expectUnavailable(ask(), 5);
    expect(await ready()).toMatchObject({ status: 503, reasons: ['index: is behind the chain'] });
  });

  it('while the clock of this machine is behind the index, and says that it is the clock', async () => {
    await seedIndex(api);
    api.clock.set(Date.parse('2026-11-21T10:00:01.000Z'));
    expect(await expectUnavailable(ask(), 30)).toContain('The clock of this server is behind');
    expect(await ready()).toMatchObject({
      status: 503,
      reasons: [
        'index: is 7199 s ahead of the clock of this machine: let it follow a time server (NTP)',
      ],
      checks: { index: { details: { block: '1000' } } },
    });
    api.clock.set(Date.parse('2026-11-21T11:59:58.000Z'));
    expect(await statusOf(ask())).toBe(200);
    expect((await ready()).checks.index.details).toEqual({ block: '1000', lagSeconds: 0 });
  });

  it('after the index has stopped, whatever it covers', async () => {
    await seedIndex(api);
    expect(await statusOf(ask())).toBe(200);
    const index = new IndexStore(await api.database.open());
    await index.halt(await index.takeLead(), 'a reason for operators');
    expect(await expectUnavailable(ask(), 60)).not.toContain('operators');
  });
});

it('what a check has found to be wrong is not answered, also if it is cached, and the rest is', async () => {
  await seedIndex(api, {
    events: [
      ['2026-11-10T10:00:00Z', ALICE, 100],
      ['2026-11-10T11:00:00Z', OTHER, 7],
    ],
  });
  const database = await api.database.open();
  /** Statuses of snapshots, history and batch. */
  const statuses = (...wallets: Address[]): Promise<number[]> =>
    Promise.all([
      ...wallets.flatMap((wallet) => [
        statusOf(ask(wallet)),
        statusOf(api.as(partner).ask(`/api/staking/history?walletAddress=${wallet}`)),
      ]),
      statusOf(api.as(partner).post(`${PATH}/batch`, { walletAddresses: wallets })),
    ]);
  expect(await statuses(ALICE, OTHER)).toEqual([200, 200, 200, 200, 200]);
  await recordFinding(database, [ALICE], 'test');
  await expectUnavailable(ask(), 60);
  expect(await statuses(ALICE, OTHER)).toEqual([503, 503, 200, 200, 503]);
  expect(await statuses(OTHER)).toEqual([200, 200, 200]);
  await clearFindings(database, [ALICE]);
  expect(await statuses(ALICE)).toEqual([200, 200, 200]);

  // Only a sum is known to differ, so every wallet may be wrong.
  await recordFinding(database, 'all', 'test');
  for (const wallet of [ALICE, OTHER, aWallet(9)]) expect(await statusOf(ask(wallet))).toBe(503);
  await clearFindings(database, [ALICE]);
  expect(await statuses(OTHER)).toEqual([503, 503, 503]);
  await clearFindings(database, 'all');
  expect(await statuses(OTHER)).toEqual([200, 200, 200]);
});

it('a wallet that was not found has an answer once its first stake is indexed', async () => {
  await seedIndex(api, { finalisedAt: '2026-11-15T00:00:00Z' });
  // The second answer comes from the cache.
  for (let times = 0; times < 2; times++) expect(await statusOf(ask(OTHER))).toBe(404);
  const index = new IndexStore(await api.database.open());
  const { fence, head: previousHead } = (await index.state()) ?? {};
  if (fence === undefined || previousHead === undefined) throw new Error('there is an index');
  const head = aBlock(1001, seconds('2026-11-21T12:00:01Z'));
  const { number: blockNumber, timestampSeconds } = head;
  const block = { blockNumber, timestampSeconds, deltas: [{ wallet: OTHER, amount: 5n }] };
  const folded = foldBlocks(new Map(), [block]);
  await index.commit({ fence, previousHead, head, blocks: [head], folded, synced: true });
  const { status, body } = await ask(OTHER);
  expect([status, JSON.parse(body)]).toMatchObject([200, { averageStakedAmount: 0 }]);
  const finalOf = async (endDay: string): Promise<string | undefined> =>
    (await api.as(partner).ask(`${PATH}?walletAddress=${ALICE}&endDay=${endDay}`)).headers[
      'x-index-final'
    ];
  expect([await finalOf('2026-11-14'), await finalOf('2026-11-15')]).toEqual(['true', 'false']);
});

it('a database that is gone is a signed 503 for callers known and unknown, and all is well once it is back', async () => {
  const stranger = { apiKey: `svck_${'s'.repeat(43)}`, sharedSecret: ANON_SECRET };
  await seedIndex(api);
  expect(await statusOf(ask())).toBe(200);
  await api.link.close();
  await expectUnavailable(ask(), 5);
  // The cached credential is overdue for a look-up, but the answers are still signed with its secret.
  api.clock.advance(60_000);
  await expectUnavailable(ask(), 5);
  await expectUnavailable(ask(ALICE, stranger), 5);
  expect(await statusOf(api.as().ask(PATH))).toBe(401);
  const reasons = ['index: failed (DATABASE_UNAVAILABLE)'];
  expect(await ready()).toMatchObject({ status: 503, reasons });
  expect(await statusOf(api.as().ask('/health/live'))).toBe(200);
  expect(api.logs.join('')).toContain('DATABASE_UNAVAILABLE');
  expect(api.logs.join('')).not.toMatch(/parsedStatements|connectionParameters/);
  await api.link.open();
  api.clock.set(NOON_MS + 62_000);
  expect(await statusOf(ask())).toBe(200);
  expect(await statusOf(ask(ALICE, stranger))).toBe(401);
});

it('what the database refuses is a bare 500, signed, with the reason in the log only', async () => {
  await seedIndex(api);
  await (await api.database.open()).pool.query('DROP TABLE staking.balance_day');
  const answer = await api
    .as(partner)
    .ask(`${PATH}?walletAddress=${ALICE}`, { headers: { 'x-request-id': 'mine-2' } });
  expect([answer.status, answer.body]).toEqual([
    500,
    '{"code":"INTERNAL_SERVER_ERROR","message":"Internal server error","success":false}',
  ]);
  const lines = api.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
  const ofTheRequest = lines.filter(({ requestId }) => requestId === 'mine-2');
  expect(ofTheRequest).toMatchObject([{ msg: 'A request failed' }]);
  expect(JSON.stringify(ofTheRequest)).toContain('DATABASE_REFUSED');
});

it('a revoked key stops working after a few seconds', async () => {
  await seedIndex(api);
  expect(await statusOf(ask())).toBe(200);
  const database = await api.database.open();
  await database.pool.query(
    'UPDATE partners.credential SET revoked_at = now() WHERE key_hash = $1',
    [hashApiKey(partner.apiKey)],
  );
  api.clock.advance(4999);
  expect(await statusOf(ask())).toBe(200);
  api.clock.advance(1);
  expect(await statusOf(ask(ALICE, { ...partner, sharedSecret: ANON_SECRET }))).toBe(401);
});
