import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { mintCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { answerTo, expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const QUERY = `${PATH}?walletAddress=${aWallet(1)}`;

let api: Api;
beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  const events: Seed['events'] = [['2026-11-10T10:00:00Z', aWallet(1), 1]];
  await seedIndex(api, { events, headAt: '2026-11-21T12:00:00Z' });
});
beforeEach(() => {
  // Refills the limits of the address.
  api.clock.advance(60_000);
});
afterAll(() => api.stop());

const figures = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

/** Uses up the limit of one address by requests without a key. */
async function exhaustAddress(headers: Record<string, string> = {}, at = api): Promise<void> {
  for (let i = 0; i < 100; i++) expect((await fetch(at.url + PATH, { headers })).status).toBe(401);
}

describe('limits', () => {
  it('are those of the partner, for all its requests, whatever their answer', async () => {
    const { apiKey, sharedSecret } = await addPartner(api, 'small', { rate: 2, burst: 3 });
    const ask = (url: string) => request(api.url).get(url).set('X-API-KEY', apiKey);
    expect(figures(await ask(QUERY).expect(200))).toEqual([3, 2, 1]);
    expect(figures(await ask(PATH).expect(400))).toEqual([3, 1, 1]);
    expect(figures(await ask('/nowhere').expect(404))).toEqual([3, 0, 2]);
    const refused = await ask(QUERY).expect(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(figures(refused)).toEqual([3, 0, 2]);
    expect(refused.text).toBe(
      '{"code":"RATE_LIMIT_EXCEEDED","message":"Too many requests: try again in 1 s.","success":false}',
    );
    const expected = { method: 'GET', path: PATH, secret: sharedSecret };
    expectSigned(refused, expected);
    api.clock.advance(500);
    await ask(QUERY).expect(200);
    await ask(QUERY).expect(429);
  });

  it('count a batch as what it holds, and a refused one as what it cost to read', async () => {
    const { apiKey, sharedSecret } = await addPartner(api, 'batches', { rate: 2, burst: 10 });
    const batch = (count: number) =>
      request(api.url)
        .post(`${PATH}/batch`)
        .set('X-API-KEY', apiKey)
        .send({ walletAddresses: Array<string>(count).fill(aWallet(1)) });
    expect(figures(await batch(1).expect(200))).toEqual([10, 9, 1]);
    // Counts each entry of the batch, although all entries are one wallet.
    expect(figures(await batch(7).expect(200))).toEqual([10, 2, 4]);
    const refused = await batch(4).expect(429);
    expect(figures(refused)).toEqual([10, 1, 5]);
    const expected = { method: 'POST', path: `${PATH}/batch`, secret: sharedSecret };
    expectSigned(refused, expected);
    // The batch is admitted after the time that the refusal names.
    expect(refused.headers['retry-after']).toBe('2');
    api.clock.advance(2000);
    expect(figures(await batch(4).expect(200))).toEqual([10, 1, 5]);
    expect(figures(await batch(1).expect(200))).toEqual([10, 0, 5]);
    await batch(1).expect(429);
    api.clock.advance(5000);
    expect(figures(await batch(10).expect(200))).toEqual([10, 0, 5]);
    // A batch above the burst can never be allowed, so the answer is 400 and has no Retry-After.
    api.clock.advance(5000);
    const large = await batch(11).expect(400);
    expect(large.text).toBe(
      '{"code":"BATCH_TOO_LARGE","message":"Your limit of requests at once allows 10 wallets in a batch; this one has 11.","success":false}',
    );
    expect(figures(large)).toEqual([10, 9, 1]);
  });

  it('are per address for callers without a valid key, and leave partners from there alone', async () => {
    const { apiKey } = await addPartner(api, 'neighbour');
    await request(api.url).get(QUERY).set('X-API-KEY', apiKey).expect(200);
    await exhaustAddress();
    const refused = await request(api.url).get(PATH).expect(429);
    const expected = { method: 'GET', path: PATH, secret: ANON_SECRET };
    expectSigned(refused, expected);
    await request(api.url).get(QUERY).set('X-API-KEY', apiKey).expect(200);
    // An exhausted address does not stop the partner, even when its credential is due for another look-up.
    api.clock.advance(5000);
    await exhaustAddress();
    await request(api.url).get(QUERY).set('X-API-KEY', apiKey).expect(200);
    await request(api.url).get('/health/live').expect(200);
    await request(api.url).get('/metrics').expect(200);
  });

  it('let nobody load the database by guessing keys', async () => {
    const guess = () => request(api.url).get(PATH).set('X-API-KEY', mintCredential().apiKey);
    for (let i = 0; i < 100; i++) await guess().expect(401);
    const before = api.link.packets;
    await guess().expect(429);
    expect(api.link.packets).toBe(before);
  });

  it('count requests that cannot be parsed', async () => {
    await exhaustAddress();
    const answer = await answerTo(api.port, ['GET /x HTTP/1.1\r\nbad\r\n\r\n']);
    expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
    expect(answer.headers['retry-after']).toBe('1');
    expectSigned(answer, { method: 'GET', path: '/x', secret: ANON_SECRET });
    const head = 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const bad = await answerTo(api.port, [head]);
    expectError(bad, 429, 'RATE_LIMIT_EXCEEDED');
    expectSigned(bad, { method: 'GET', path: '/%zz', secret: ANON_SECRET });
  });

  it('leave out what probes and scrapers ask for, and nothing beside it', async () => {
    for (let i = 0; i < 100; i++) await request(api.url).get(`/health/made-up-${i}`).expect(404);
    const beside = [
      '/health',
      '/health/',
      '/health/live/x',
      '/health/x',
      '/metrics/',
      '/metrics/x',
    ];
    for (const path of beside) {
      await request(api.url).get(path).expect(429);
    }
    for (const path of ['/health/live', '/health/ready', '/health/accepting?x', '/metrics']) {
      await request(api.url).get(path).expect(200);
    }
  });

  it('do not believe X-Forwarded-For of anybody', async () => {
    await exhaustAddress({ 'X-Forwarded-For': '198.51.100.1' });
    await request(api.url).get(PATH).set('X-Forwarded-For', '198.51.100.2').expect(429);
  });

  it('take the address from X-Forwarded-For of a trusted proxy', async () => {
    const behind = await startApi({ TRUSTED_PROXIES: 'loopback' });
    try {
      await exhaustAddress({ 'X-Forwarded-For': '203.0.113.9, 198.51.100.1' }, behind);
      const ask = (clients: string) =>
        request(behind.url).get(PATH).set('X-Forwarded-For', clients);
      await ask('203.0.113.8, 198.51.100.1').expect(429);
      await ask('198.51.100.2').expect(401);
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
  const remainingAfter = async (apiKey: string, body: string) => {
    const answer = await fetch(`${api.url}${PATH}/batch`, {
      method: 'POST',
      headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
      body,
    });
    const { status, headers } = answer;
    await answer.arrayBuffer();
    return { status, remaining: Number(headers.get('x-ratelimit-remaining')) };
  };

  it.each([
    ['not JSON', malformed, 400],
    ['more than is left of the limit', wallets, 429],
  ])('is paid for before it is read: %s', async (_, body, status) => {
    const { apiKey } = await addPartner(api, `refused ${status}`, { rate: 1, burst: BURST });
    // Leaves 900, less than the wallets of the batch.
    const some = { walletAddresses: Array<string>(100).fill(aWallet(1)) };
    await request(api.url).post(`${PATH}/batch`).set('X-API-KEY', apiKey).send(some).expect(200);
    let left = BURST - 100;
    for (let sent = 0; sent < 100; sent += 1) {
      const isRead = left >= 29;
      const answer = await remainingAfter(apiKey, body);
      if (isRead) left -= 29;
      // What is left falls with each batch that is read, and never rises.
      expect(answer).toEqual({ status: isRead ? status : 429, remaining: left });
    }
    expect(left).toBe(1);
  });

  it('for lack of requests is not read at all', async () => {
    const { apiKey } = await addPartner(api, 'unread', { rate: 1, burst: 40 });
    const head = (more: string): string =>
      `POST ${PATH}/batch HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${apiKey}\r\n` +
      `Content-Type: application/json\r\n${more}\r\n`;
    // Leaves 30.
    expect(await remainingAfter(apiKey, ' '.repeat(20_000))).toEqual({
      status: 400,
      remaining: 30,
    });
    for (const more of ['Transfer-Encoding: chunked\r\n', 'Content-Length: 10000000\r\n']) {
      // The answer comes although none of the body was sent, and the rest is not waited for.
      const answer = await answerTo(api.port, [head(more)]);
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(answer.headers['connection']).toBe('close');
    }
  });
});
