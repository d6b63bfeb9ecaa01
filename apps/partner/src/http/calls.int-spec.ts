/** Whom the reference partner lets in, and what it answers where the SDK does not: calls to no endpoint. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { exchange } from '#libs/testing/wire';
import {
  type Answer,
  API_KEY,
  aPlayer,
  aRedemptionId,
  aRequestId,
  call,
  type CallOptions,
  expectRefused,
  NOON_MS,
  type Partner,
  SECRET,
  sendRaw,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
let wallet: Address;
beforeAll(async () => {
  partner = await startPartner();
  wallet = await aPlayer(partner, 100);
});
afterAll(() => partner.stop());

const READ = '/get-points-by-address';
const read = (options: CallOptions = {}): Promise<Answer> =>
  call(partner, `${READ}?address=${wallet}`, undefined, options);

describe('X-API-KEY', () => {
  it.each([
    ['a beginning', API_KEY.slice(0, -1)],
    ['longer', `${API_KEY}0`],
    ['in capitals', API_KEY.toUpperCase()],
    ['given twice', [API_KEY, API_KEY]],
    ['beyond ASCII', 'é'.repeat(25)],
  ])('refuses one that is %s', async (_, key) => {
    expectRefused(await read({ headers: { 'x-api-key': key } }), 'ERR-AUTH-FAILED');
  });
});

describe('X-API-SIGNATURE', () => {
  it('is over method, path, id and body: none can be changed', async () => {
    const id = aRequestId(NOON_MS);
    const signed = (content: string | string[]): { 'x-api-signature': string | string[] } => ({
      'x-api-signature': Array.isArray(content) ? content : hmacSha256Hex(SECRET, content),
    });
    for (const content of [
      `POST${READ}${id}`,
      `GET${READ}/${id}`,
      `GET${READ}?address=${wallet}${id}`,
      `GET${READ}${aRequestId(NOON_MS)}`,
      `GET${READ}${id}{}`,
      `GET/game/v1${READ}${id}`,
      ['a'.repeat(64), 'a'.repeat(64)],
    ]) {
      const answer = await read({ requestId: id, headers: signed(content) });
      expectRefused(answer, 'ERR-AUTH-FAILED');
    }
    // None of them has used up the id.
    const kept = await read({ requestId: id, headers: signed(`GET${READ}${id}`) });
    expect(kept.body).toMatchObject({ success: true, points: 100 });
  });

  it('covers the base path', async () => {
    const game = await startPartner({ PARTNER_BASE_PATH: '/game/v1' }, partner);
    const id = aRequestId(NOON_MS);
    const path = `/game/v1${READ}?address=${wallet}`;
    expect((await call(game, path)).body['points']).toBe(100);
    const without = { 'x-api-signature': hmacSha256Hex(SECRET, `GET${READ}${id}`) };
    const answer = await call(game, path, undefined, { requestId: id, headers: without });
    expectRefused(answer, 'ERR-AUTH-FAILED');
    expect((await call(game, `${READ}?address=${wallet}`)).status).toBe(404);
    await game.stop();
  });
});

describe('X-API-REQUEST', () => {
  it('refuses a replay, in whatever case, also at another replica', async () => {
    const requestId = aRequestId(NOON_MS);
    expect((await read({ requestId })).body['success']).toBe(true);
    expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
    expectRefused(await read({ requestId: requestId.toUpperCase() }), 'ERR-AUTH-FAILED');
    const replica = await startPartner({}, partner);
    const path = `${READ}?address=${wallet}`;
    expectRefused(await call(replica, path, undefined, { requestId }), 'ERR-AUTH-FAILED');
    expect((await call(replica, path)).body['success']).toBe(true);
    await replica.stop();
  });

  it('takes one of ten copies that come at once', async () => {
    const requestId = aRequestId(NOON_MS);
    const answers = await Promise.all(Array.from({ length: 10 }, () => read({ requestId })));
    expect(answers.filter(({ body }) => body['success'] === true)).toHaveLength(1);
  });

  it('is remembered as long as it could pass for fresh, and then forgotten', async () => {
    const requestId = aRequestId(NOON_MS + 300_000);
    expect((await read({ requestId })).body['success']).toBe(true);
    partner.clock.set(NOON_MS + 600_000);
    // Any call deletes the ids that are too old.
    await read();
    const replayed = await read({ requestId });
    expectRefused(replayed, 'ERR-AUTH-FAILED');
    expect(replayed.body['errorMessage']).toBe('X-API-REQUEST was used before.');
    partner.clock.set(NOON_MS + 600_001);
    await partner.database.query({
      text: `DELETE FROM game.seen_request WHERE request_id <> '${requestId}'`,
    });
    await read();
    const text = 'SELECT 1 FROM game.seen_request WHERE request_id = $1';
    expect(await partner.database.query({ text }, [requestId])).toEqual([]);
    expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
    partner.clock.set(NOON_MS);
  });
});

describe('X-Request-Id', () => {
  const lastLine = (): unknown => JSON.parse(partner.logs.at(-1) ?? '{}');

  it('is in the answer, and in the log beside the id of the call', async () => {
    const headers = { 'x-request-id': 'mine-1', 'x-api-signature': 'ab' };
    const answer = await read({ headers });
    expectRefused(answer, 'ERR-AUTH-FAILED');
    expect(answer.headers['x-request-id']).toBe('mine-1');
    expect(lastLine()).toMatchObject({ msg: 'A call was refused', requestId: 'mine-1' });
  });

  it('is in the log also of what is done after the body came', async () => {
    const address = await aPlayer(partner, 10);
    const booking = { address, deductPoints: 10, svcRedemptionId: aRedemptionId() };
    const headers = { 'x-request-id': 'mine-2' };
    const answer = await call(partner, '/deduct-points-by-address', booking, { headers });
    expect(answer.body['success']).toBe(true);
    expect(answer.headers['x-request-id']).toBe('mine-2');
    expect(lastLine()).toMatchObject({ msg: 'Points deducted', requestId: 'mine-2' });
  });
});

describe('what is not one of the four endpoints', () => {
  it.each([
    ['GET', '/'],
    ['HEAD', '/nothing'],
    ['OPTIONS', '/deduct-points-by-address'],
    ['GET', '/%zz'],
    ['GET', '/%c0%af?x=%zz'],
    ['GET', '//get-points-by-address'],
    ['PROPFIND', '/x'],
  ])('%s %s is a signed 404', async (method, path) => {
    const answer = await sendRaw(partner.port, { method, path, headers: { 'x-api-key': API_KEY } });
    expect(answer.status).toBe(404);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    if (method === 'HEAD') return;
    expect(answer.body).toEqual({
      success: false,
      errorCode: 'ERR-INTERNAL',
      errorMessage: 'There is no such endpoint.',
    });
  });

  it.each([
    'rubbish\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  ])('what is not HTTP gets no answer, so no unsigned one: %.30j', async (bytes) => {
    expect(await exchange(partner.port, [bytes])).toEqual([]);
  });

  it.each([
    'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
    'POST /x HTTP/1.1\r\nHost: a\r\nExpect: something\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  ])('what Node would answer by itself is signed: %.30j', async (bytes) => {
    const signature = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    expect(await exchange(partner.port, [bytes])).toMatchObject([
      { status: 404, headers: { 'x-api-signature': signature } },
    ]);
  });
});
