import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mintCredential, type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { answerTo, expectError, expectSigned, type RawAnswer } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const QUERY = `${PATH}?walletAddress=${aWallet(1)}`;
const BATCH = `${PATH}/batch`;

let api: Api;
beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  await seedIndex(api);
});
beforeEach(() => {
  // Refills the limits of the address.
  api.clock.advance(60_000);
});
afterAll(() => api.stop());

/** Status, and what the headers say of the limit. */
const figures = ({ status, headers }: RawAnswer): number[] => [
  status,
  ...['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`])),
];
const batchOf = (count: number) => ({ walletAddresses: Array<string>(count).fill(aWallet(1)) });

/** Uses up the limit of one address by requests without a key. */
async function exhaustAddress(headers: Record<string, string> = {}, at = api): Promise<void> {
  for (let i = 0; i < 100; i++) expect((await at.as().ask(PATH, { headers })).status).toBe(401);
}

const statusOf = async (target: string, by?: MintedCredential): Promise<number> =>
  (await api.as(by).ask(target)).status;

describe('limits', () => {
  it('are those of the partner, for all its requests, whatever their answer', async () => {
    const small = await addPartner(api, 'small', { rate: 2, burst: 3 });
    const ask = (target: string) => api.as(small).ask(target);
    expect(figures(await ask(QUERY))).toEqual([200, 3, 2, 1]);
    expect(figures(await ask(PATH))).toEqual([400, 3, 1, 1]);
    expect(figures(await ask('/nowhere'))).toEqual([404, 3, 0, 2]);
    const refused = await ask(QUERY);
    expect(figures(refused)).toEqual([429, 3, 0, 2]);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body).toBe(
      '{"code":"RATE_LIMIT_EXCEEDED","message":"Too many requests: try again in 1 s.","success":false}',
    );
    api.clock.advance(500);
    expect([await statusOf(QUERY, small), await statusOf(QUERY, small)]).toEqual([200, 429]);
  });

  it('count a batch as what it holds, and a refused one as what it cost to read', async () => {
    const by = await addPartner(api, 'batches', { rate: 2, burst: 10 });
    const batch = (count: number) => api.as(by).post(BATCH, batchOf(count));
    expect(figures(await batch(1))).toEqual([200, 10, 9, 1]);
    // Counts each entry of the batch, although all entries are one wallet.
    expect(figures(await batch(7))).toEqual([200, 10, 2, 4]);
    const refused = await batch(4);
    expect(figures(refused)).toEqual([429, 10, 1, 5]);
    // The batch is admitted after the time that the refusal names.
    expect(refused.headers['retry-after']).toBe('2');
    api.clock.advance(2000);
    expect(figures(await batch(4))).toEqual([200, 10, 1, 5]);
    expect(figures(await batch(1))).toEqual([200, 10, 0, 5]);
    expect((await batch(1)).status).toBe(429);
    api.clock.advance(5000);
    expect(figures(await batch(10))).toEqual([200, 10, 0, 5]);
    // A batch above the burst can never be allowed, so the answer is 400 and has no Retry-After.
    api.clock.advance(5000);
    const large = await batch(11);
    expect(large.body).toBe(
      '{"code":"BATCH_TOO_LARGE","message":"Your limit of requests at once allows 10 wallets in a batch; this one has 11.","success":false}',
    );
    expect(figures(large)).toEqual([400, 10, 9, 1]);
  });

  it('are per address for callers without a valid key, and leave partners from there alone', async () => {
    const neighbour = await addPartner(api, 'neighbour');
    expect(await statusOf(QUERY, neighbour)).toBe(200);
    await exhaustAddress();
    expect([await statusOf(PATH), await statusOf(QUERY, neighbour)]).toEqual([429, 200]);
    // An exhausted address does not stop the partner, even when its credential is due for another look-up.
    api.clock.advance(5000);
    await exhaustAddress();
    expect(await statusOf(QUERY, neighbour)).toBe(200);
  });

  it('let no one load the database by guessing keys', async () => {
    const guess = () =>
      statusOf(PATH, { apiKey: mintCredential().apiKey, sharedSecret: ANON_SECRET });
    for (let i = 0; i < 100; i++) expect(await guess()).toBe(401);
    const before = api.link.packets;
    expect(await guess()).toBe(429);
    expect(api.link.packets).toBe(before);
  });

  it.each([
    ['GET /x HTTP/1.1\r\nbad\r\n\r\n', '/x'],
    ['GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', '/%zz'],
  ])('count requests that cannot be parsed: %j', async (request, path) => {
    await exhaustAddress();
    const answer = await answerTo(api.port, [request]);
    expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
    expect(answer.headers['retry-after']).toBe('1');
    expectSigned(answer, { method: 'GET', path, secret: ANON_SECRET });
  });

  it('leave out what probes and scrapers ask for, and nothing beside it', async () => {
    for (let i = 0; i < 100; i++) expect(await statusOf(`/health/made-up-${i}`)).toBe(404);
    for (const [status, paths] of [
      [429, ['/health', '/health/', '/health/live/x', '/health/x', '/metrics/', '/metrics/x']],
      [200, ['/health/live', '/health/ready', '/health/accepting?x', '/metrics']],
    ] as const) {
      for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, status]);
    }
  });

  it('do not believe X-Forwarded-For of anybody', async () => {
    await exhaustAddress({ 'X-Forwarded-For': '198.51.100.1' });
    const headers = { 'X-Forwarded-For': '198.51.100.2' };
    expect((await api.as().ask(PATH, { headers })).status).toBe(429);
  });

  it('take the address from X-Forwarded-For of a trusted proxy', async () => {
    const behind = await startApi({ TRUSTED_PROXIES: 'loopback' });
    try {
      await exhaustAddress({ 'X-Forwarded-For': '203.0.113.9, 198.51.100.1' }, behind);
      const ask = async (clients: string) =>
        (await behind.as().ask(PATH, { headers: { 'X-Forwarded-For': clients } })).status;
      expect(await ask('203.0.113.8, 198.51.100.1')).toBe(429);
      expect(await ask('198.51.100.2')).toBe(401);
    } finally {
      await behind.stop();
    }
  });
});

describe('a batch that is refused', () => {
  const BURST = 1000;
  /** Of 58 KB, which count as 29 requests. */
  const malformed = `{"walletAddresses":["${'x'.repeat(58_000)}"`;
  const wallets = JSON.stringify({
    walletAddresses: Array.from({ length: 1000 }, (_, place) => aWallet(place)),
    padding: 'x'.repeat(13_000),
  });

  it.each([
    ['not JSON', malformed, 400],
    ['more than is left of the limit', wallets, 429],
  ])('is paid for before it is read: %s', async (_, body, status) => {
    const by = await addPartner(api, `refused ${status}`, { rate: 1, burst: BURST });
    // Leaves 900, less than the wallets of the batch.
    expect((await api.as(by).post(BATCH, batchOf(100))).status).toBe(200);
    let left = BURST - 100;
    for (let sent = 0; sent < 40; sent += 1) {
      const isRead = left >= 29;
      if (isRead) left -= 29;
      // What is left falls with each batch that is read, and never rises.
      const [is, , remaining] = figures(await api.as(by).post(BATCH, body));
      expect([is, remaining]).toEqual([isRead ? status : 429, left]);
    }
    expect(left).toBe(1);
  });

  it('for lack of requests is not read at all', async () => {
    const unread = await addPartner(api, 'unread', { rate: 1, burst: 40 });
    // Leaves 30.
    const blank = await api.as(unread).post(BATCH, ' '.repeat(20_000));
    expect(figures(blank)).toEqual([400, 40, 30, 10]);
    for (const more of ['Transfer-Encoding: chunked', 'Content-Length: 10000000']) {
      // The answer comes although none of the body was sent, and the rest is not waited for.
      const head = `POST ${BATCH} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${unread.apiKey}\r\n`;
      const type = 'Content-Type: application/json\r\n';
      const answer = await answerTo(api.port, [`${head}${type}${more}\r\n\r\n`]);
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(answer.headers['connection']).toBe('close');
    }
  });
});
