import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hmacSha256Hex } from '#libs/signing';
import { type Address, parseUuidV7, uuidV7Ms } from '#libs/domain';
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
  pointsOf,
  SECRET,
  sendRaw,
  startPartner,
} from '../testing/partner-harness.support.js';
import { seedPlayers } from '../store/players.js';

let partner: Partner;
let game: Partner;
let wallet: Address;
beforeAll(async () => {
  partner = await startPartner();
  game = await startPartner({ PARTNER_BASE_PATH: '/game/v1' });
  wallet = await aPlayer(partner, 100);
});
afterAll(() => Promise.all([partner.stop(), game.stop()]));

const READ = '/get-points-by-address';
const read = (options: CallOptions = {}, path = READ): Promise<Answer> =>
  call(partner, `${path}?address=${wallet}`, undefined, options);

interface Vector {
  direction: string;
  name: string;
  secret: string;
  method: string;
  path: string;
  xApiRequest: string;
  body: string;
  signature: string;
}
const { vectors } = JSON.parse(readFileSync('docs/wire/signature-vectors.json', 'utf8')) as {
  vectors: Vector[];
};
const calls = vectors.filter(({ direction }) => direction === 'service to partner');

describe('the published signature vectors', () => {
  it.each(calls.map((vector) => [vector.name, vector] as const))(
    '%s: accepted',
    async (_, vector) => {
      const { method, path, xApiRequest, body, signature } = vector;
      const target = path.startsWith('/game/v1') ? game : partner;
      const address = '0x52908400098527886e0f7030069857d2e4169ee7' as Address;
      await seedPlayers(target.database, [{ wallet: address, points: 5000 }]);
      const id = parseUuidV7(xApiRequest);
      if (id !== undefined) target.clock.set(uuidV7Ms(id) + 1000);
      const query = method === 'GET' ? `?address=${address}` : '';
      // The vectors share two ids, and a receiver accepts an id once only.
      await target.database.query({ text: 'TRUNCATE game.seen_request' });
      const answer = await sendRaw(target.port, {
        method,
        path: path + query,
        headers: {
          'x-api-key': API_KEY,
          'x-api-request': xApiRequest,
          'x-api-signature': signature,
          ...(method === 'POST' && { 'content-type': 'application/json' }),
        },
        ...(method === 'POST' && { body }),
      });
      target.clock.set(NOON_MS);
      // The vectors are of several stories, so not all of them succeed; but all of them authenticate.
      expect(answer.status).toBe(200);
      expect(answer.body['errorCode']).not.toBe('ERR-AUTH-FAILED');
      expect(answer.body['errorCode']).not.toBe('ERR-INTERNAL');
    },
  );
});

describe('X-API-KEY', () => {
  it.each([
    ['missing', ''],
    ['another', 'key_of_the_game_for_test5'],
    ['a beginning', API_KEY.slice(0, -1)],
    ['longer', `${API_KEY}0`],
    ['in capitals', API_KEY.toUpperCase()],
    ['given twice', [API_KEY, API_KEY]],
    ['beyond ASCII', 'é'.repeat(25)],
  ])('refuses one that is %s', async (_, key) => {
    expectRefused(await read({ headers: { 'x-api-key': key } }), 'ERR-AUTH-FAILED');
  });
});

describe('X-Request-Id', () => {
  it('is in the answer, and in the log beside the id of the call', async () => {
    const requestId = aRequestId(NOON_MS);
    const headers = { 'x-request-id': 'mine-1', 'x-api-signature': 'ab' };
    const answer = await read({ requestId, headers });
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

function lastLine(): unknown {
  return JSON.parse(partner.logs.at(-1) ?? '{}');
}

describe('X-API-SIGNATURE', () => {
  it('accepts the call as the service signs it', async () => {
    expect((await read()).body).toMatchObject({ success: true, points: 100 });
  });

  it.each([
    ['missing', ''],
    ['of something else', hmacSha256Hex(SECRET, 'x')],
    ['not hex', 'z'.repeat(64)],
    ['short', 'ab'],
    ['given twice', ['a'.repeat(64), 'a'.repeat(64)]],
  ])('refuses one that is %s', async (_, signature) => {
    const answer = await read({ headers: { 'x-api-signature': signature } });
    expectRefused(answer, 'ERR-AUTH-FAILED');
  });

  it('is over method, path, id and body: none can be changed', async () => {
    const id = aRequestId(NOON_MS);
    const signed = (content: string): { 'x-api-signature': string } => ({
      'x-api-signature': hmacSha256Hex(SECRET, content),
    });
    for (const content of [
      `POST${READ}${id}`,
      `GET${READ}/${id}`,
      `GET${READ}?address=${wallet}${id}`,
      `GET${READ}${aRequestId(NOON_MS)}`,
      `GET${READ}${id}{}`,
      `GET/game/v1${READ}${id}`,
    ]) {
      const answer = await read({ requestId: id, headers: signed(content) });
      expectRefused(answer, 'ERR-AUTH-FAILED');
    }
    const kept = await read({ requestId: id, headers: signed(`GET${READ}${id}`) });
    expect(kept.body['success']).toBe(true);
  });

  it('is over the raw body, or over its canonical form', async () => {
    const address = await aPlayer(partner, 100);
    const [one, two, three] = [aRedemptionId(), aRedemptionId(), aRedemptionId()];
    const canonical = (id: string): string =>
      `{"address":"${address}","deductPoints":10,"svcRedemptionId":"${id}"}`;
    const spaced = (id: string): string =>
      `{ "svcRedemptionId": "${id}",\n "deductPoints": 1e1, "address": "\\u0030${address.slice(1)}" }`;
    const path = '/deduct-points-by-address';
    for (const [body, signed] of [
      [canonical(one), canonical(one)],
      [spaced(two), canonical(two)],
      [spaced(three), spaced(three)],
    ] as const) {
      expect((await call(partner, path, body, { signed })).body['success']).toBe(true);
    }
    const other = await call(partner, path, spaced(two), { signed: canonical(one) });
    expectRefused(other, 'ERR-AUTH-FAILED');
    expect(await pointsOf(partner, address)).toBe(70);
  });

  it('covers the base path', async () => {
    const address = await aPlayer(game, 7);
    const id = aRequestId(NOON_MS);
    const path = `/game/v1${READ}?address=${address}`;
    expect((await call(game, path)).body['points']).toBe(7);
    const without = { 'x-api-signature': hmacSha256Hex(SECRET, `GET${READ}${id}`) };
    const answer = await call(game, path, undefined, { requestId: id, headers: without });
    expectRefused(answer, 'ERR-AUTH-FAILED');
    expect((await call(game, `${READ}?address=${address}`)).status).toBe(404);
  });
});

describe('X-API-REQUEST', () => {
  it.each([
    ['missing', ''],
    ['a UUID of version 4', '7f1c2f3e-7d51-4c7b-9c2f-5b0f6f1a2c3d'],
    ['no UUID', '01a1fdfa467b7abc8def0123456789ab'],
    ['longer', `${aRequestId(NOON_MS)}0`],
    ['of another variant', '01a1fdfa-467b-7abc-0def-0123456789ab'],
  ])('refuses one that is %s', async (_, requestId) => {
    const answer = await read({ requestId });
    expectRefused(answer, 'ERR-AUTH-FAILED');
    expect(answer.body['errorMessage']).toBe('X-API-REQUEST must be a UUID of version 7.');
  });

  it.each([
    [-300_000, true],
    [-300_001, false],
    [300_000, true],
    [300_001, false],
    [-NOON_MS, false],
  ])('minted %s ms from the clock here: accepted is %s', async (offsetMs, accepted) => {
    const answer = await read({ requestId: aRequestId(NOON_MS + offsetMs) });
    if (accepted) expect(answer.body['success']).toBe(true);
    else expectRefused(answer, 'ERR-AUTH-FAILED');
  });

  it('refuses a replay, in whatever case, also at another replica', async () => {
    const requestId = aRequestId(NOON_MS);
    expect((await read({ requestId })).body['success']).toBe(true);
    expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
    expectRefused(await read({ requestId: requestId.toUpperCase() }), 'ERR-AUTH-FAILED');
    const replica = await startPartner({}, { test: partner.test, clock: partner.clock });
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

  it('is not used up by a call that somebody else made up', async () => {
    const requestId = aRequestId(NOON_MS);
    await read({ requestId, headers: { 'x-api-signature': 'a'.repeat(64) } });
    expect((await read({ requestId })).body['success']).toBe(true);
  });

  it('is remembered as long as it could pass for fresh, and then forgotten', async () => {
    const requestId = aRequestId(NOON_MS + 300_000);
    const count = async (): Promise<unknown> => {
      const text = 'SELECT count(*)::int AS seen FROM game.seen_request WHERE request_id = $1';
      return (await partner.database.query<{ seen: number }>({ text }, [requestId]))[0]?.seen;
    };
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
    expect(await count()).toBe(0);
    expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
    partner.clock.set(NOON_MS);
  });
});
