/** What a player reads of partners: the points there, what they come to, and how many can be redeemed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { CallbackStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { FakePartner, type PartnerBehaviour, refusal } from '#libs/testing/partner';
import {
  addPartner,
  addPrice,
  aPlayer,
  aUser,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const NO_PLAYER = refusal('ERR-USER-NOT-FOUND');

let service: Service;
let arena: string;

beforeAll(async () => {
  service = await startService({ WALLET_DAILY_TOKEN_BUDGET: '1000' });
  arena = await addPartner(service, 'Arena', {
    minPoints: 10n,
    maxPoints: 20_000n,
    bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  });
  await addPartner(service, 'Small', { dailyTokenBudget: parseDecimal('50') });
  await addPartner(service, 'Gone', { url: 'http://127.0.0.1:1' });
  await addPrice(service);
});
afterAll(() => service.stop());

describe('points', () => {
  it('are what the partner says, by its name or id', async () => {
    const user = await aUser(service);
    service.game.points.set(user.wallet, 1234);
    const expected = {
      partner: { id: arena, name: 'Arena' },
      wallet: user.wallet,
      points: 1234,
      chain: 'local',
    };
    for (const partner of ['Arena', 'aRENA', arena, arena.toUpperCase()]) {
      const { body } = await user.get(`/api/partners/${partner}/points`).expect(200);
      expect(body).toEqual(expected);
    }
  });

  it('are of no partner by a name that two have, where the database tells their letters apart', async () => {
    const ids = [await addPartner(service, 'gâme'), await addPartner(service, 'Other')];
    const rename = "UPDATE partners.partner SET name = 'GÂME' WHERE id = $1";
    await (await service.database.open()).pool.query(rename, [ids[1]]);
    service.clock.advance(2_000);
    const user = await aUser(service);
    service.game.points.set(user.wallet, 7);
    const path = `/api/partners/${encodeURIComponent('gâme')}/points`;
    const refused = await user.get(path).expect(404);
    expect(refused.body).toMatchObject({
      message: expect.stringMatching(/^Several partners have this name/),
    });
    for (const id of ids) {
      const { body } = await user.get(`/api/partners/${id}/points`).expect(200);
      expect(body).toMatchObject({ partner: { id } });
    }
  });

  it('are logged as a call with its end', async () => {
    const user = await aUser(service);
    await user.get('/api/partners/Arena/points').expect(404);
    const database = await service.database.open();
    const [row] = await database.query({
      text: `SELECT step, outcome, redemption_id, record ->> 'status' AS status
        FROM redemption.partner_call ORDER BY begun_at DESC LIMIT 1`,
    });
    expect(row).toEqual({ step: 'balance', outcome: 'answer', redemption_id: null, status: '200' });
  });

  it.each<[string, string, PartnerBehaviour]>([
    ['no such player', '404 USER_NOT_FOUND', () => ({ body: NO_PLAYER })],
    [
      'no such player, unsigned',
      '502 PARTNER_ERROR',
      () => ({ status: 404, body: NO_PLAYER, signature: null }),
    ],
    ['our key refused', '502 PARTNER_ERROR', () => ({ body: refusal('ERR-AUTH-FAILED') })],
    [
      'a fault of its own',
      '503 PARTNER_UNAVAILABLE',
      () => ({ status: 500, body: {}, signature: null }),
    ],
  ])('of a partner that answers with %s are %s', async (_, expected, behave) => {
    const playing = service.game.behave;
    service.game.behave = behave;
    try {
      const user = await aUser(service);
      const [status, code] = expected.split(' ');
      const answer = await user.get('/api/partners/Arena/points');
      expect(errorOf(answer)).toEqual({ status: Number(status), code });
    } finally {
      service.game.behave = playing;
    }
  });

  it('of a partner that is not there for now can be asked for later', async () => {
    const user = await aUser(service);
    const answer = await user.get('/api/partners/Gone/points');
    expect(errorOf(answer)).toEqual({ status: 503, code: 'PARTNER_UNAVAILABLE' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('of nobody are not found', async () => {
    const user = await aUser(service);
    for (const partner of ['Nobody', '__proto__', '%00', '%F0%9F%92%A9']) {
      const answer = await user.get(`/api/partners/${partner}/points`);
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
  });

  it('are asked of the partner at most five times at once', async () => {
    const user = await aUser(service);
    service.game.points.set(user.wallet, 1);
    for (let count = 0; count < 5; count++) {
      await user.get('/api/partners/Arena/points').expect(200);
    }
    const answer = await user.get('/api/partners/Arena/points');
    expect(errorOf(answer)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(answer.headers['retry-after']).toBe('2');
  });
});

describe('points with all partners', () => {
  it('are read at once, each partner by itself, and count as one read', async () => {
    await service.bench.finalise();
    const [silent, strange] = [await FakePartner.start(), await FakePartner.start()];
    silent.delayMs = 4_000;
    strange.behave = () => ({ body: {}, signature: null });
    const names = Array.from({ length: 12 }, (_, index) => `Game ${String(index + 10)}`);
    for (const name of names) await addPartner(service, name, { maxPoints: 400n });
    await addPartner(service, 'Silent', { url: silent.url });
    await addPartner(service, 'Strange', { url: strange.url });
    const user = await aUser(service);
    service.game.points.set(user.wallet, 1500);
    const { body } = await user.get('/api/points').expect(200);
    expect(body.wallet).toBe(user.wallet);
    const { partners } = body as { partners: { partner: { name: string } }[] };
    const byName = new Map(partners.map((one) => [one.partner.name, one]));
    for (const name of names) {
      expect(byName.get(name)).toMatchObject({
        ...{ points: 1500, problem: null },
        limits: { maxPoints: 400, refusal: null },
        quote: { points: 400, usdValue: 4, refusal: null },
      });
    }
    expect(byName.get('Silent')).toMatchObject({
      ...{ points: null, quote: null },
      problem: { code: 'PARTNER_UNAVAILABLE', retryAfterSeconds: 10 },
      limits: { refusal: null },
    });
    expect(byName.get('Strange')).toMatchObject({
      ...{ points: null, quote: null },
      problem: { code: 'PARTNER_ERROR', retryAfterSeconds: null },
    });
    for (let count = 1; count < 5; count++) {
      const one = await user.get('/api/points?partner=gAME 10').expect(200);
      expect(one.body.partners).toMatchObject([{ partner: { name: 'Game 10' }, points: 1500 }]);
    }
    const answer = await user.get('/api/points');
    expect(errorOf(answer)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    await Promise.all([silent.stop(), strange.stop()]);
  });

  it('of a partner that is not there are not found', async () => {
    const user = await aUser(service);
    expect(errorOf(await user.get('/api/points?partner=Nobody'))).toEqual({
      ...{ status: 404, code: 'NOT_FOUND' },
    });
    expect(errorOf(await user.get('/api/points?partner=Arena&partner=Gone'))).toEqual({
      ...{ status: 400, code: 'BAD_REQUEST', field: 'partner' },
    });
  });
});

const quoteOf = (points: number | string, partner = 'Arena') =>
  `/api/partners/${partner}/quote?points=${points}`;

describe('a quote', () => {
  it('is what the points come to, and until when the price is good', async () => {
    const user = await aUser(service);
    const { body } = await user.get(quoteOf(5000)).expect(200);
    expect(body).toEqual({
      partner: { id: arena, name: 'Arena' },
      points: 5000,
      tokens: 340,
      tokensExact: '340',
      amount: '340000000000000000000',
      usdValue: 50,
      priceUsd: 0.15,
      bonusRate: 0.02,
      validUntil: expect.stringMatching(/Z$/),
      refusal: null,
    });
    const usableMs = Date.parse(String(body.validUntil)) - service.clock.nowMs();
    expect(usableMs).toBeGreaterThan(0);
    expect(usableMs).toBeLessThanOrEqual(600_000);
    const less = await user.get(quoteOf(4999)).expect(200);
    expect(less.body).toMatchObject({ tokensExact: '333.266666666666666666', bonusRate: null });
  });

  it('says that a redemption is open, and how long a wallet waits', async () => {
    const user = await aPlayer(service, 100);
    const short = await user.redeem('Arena', 101);
    expect(errorOf(short)).toEqual({ status: 409, code: 'INSUFFICIENT_POINTS' });
    const { body: waits } = await user.get(quoteOf(100)).expect(200);
    expect(waits.refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 5 });
    service.clock.advance(5_000);
    const { body: open } = await user.redeem('Arena', 100).expect(201);
    const { body } = await user.get(quoteOf(100)).expect(200);
    expect(body.refusal.code).toBe('REDEMPTION_OPEN');
    expect(body.refusal.message).toContain(open.id);
    const { body: range } = await user.get('/api/partners/Arena/limits').expect(200);
    expect(range.refusal.code).toBe('REDEMPTION_OPEN');
    expect(range.coolDownSeconds).toBe(300);
  });

  it('takes no points, and asks no partner', async () => {
    const user = await aUser(service);
    const database = await service.database.open();
    const calls = {
      text: 'SELECT count(*)::int AS count FROM redemption.partner_call WHERE step = $1',
      values: ['balance'],
    };
    const [before] = await database.query(calls);
    for (let asked = 0; asked < 3; asked++) await user.get(quoteOf(100)).expect(200);
    expect(await database.query(calls)).toEqual([before]);
    expect((await user.get('/api/redemptions')).body.redemptions).toEqual([]);
  });

  it('has no figures while the price is too old, and says so', async () => {
    service.clock.advance(601_000);
    const user = await aUser(service);
    const { body } = await user.get(quoteOf(100)).expect(200);
    expect(body).toMatchObject({ tokens: null, amount: null, priceUsd: null, validUntil: null });
    expect(body.refusal.code).toBe('PRICE_STALE');
    const { body: range } = await user.get('/api/partners/Arena/limits').expect(200);
    expect(range).toMatchObject({ minPoints: 10, maxPoints: 0, refusal: { code: 'PRICE_STALE' } });
    await addPrice(service);
  });

  it.each([
    ...['', 'points=', 'points=0', 'points=-1', 'points=5.5', 'points=1e3', 'points=0x10'],
    ...[
      'points=100&points=100',
      'points[]=100',
      'points[a]=1',
      'points=%00',
      'points=9007199254740992',
    ],
    ...['points=%F0%9F%92%A9', `points=${'9'.repeat(400)}`, '__proto__[points]=100', 'points=+100'],
  ])('is of no %p', async (query) => {
    const user = await aUser(service);
    const answer = await user.get(`/api/partners/Arena/quote?${query}`);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field: 'points' });
  });

  it('is for who is signed in, of a partner that is there', async () => {
    expect((await request(service.url).get(quoteOf(100))).status).toBe(401);
    expect((await request(service.url).get('/api/partners/Arena/limits')).status).toBe(401);
    const user = await aUser(service);
    for (const path of [quoteOf(1, '__proto__'), '/api/partners/%00/limits']) {
      expect(errorOf(await user.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
  });
});

describe('the limits', () => {
  it('are the most that the budgets allow: one point more is refused', async () => {
    const user = await aPlayer(service, 1_000_000);
    for (const partner of ['Arena', 'Small']) {
      const { body } = await user.get(`/api/partners/${partner}/limits`).expect(200);
      expect(body.refusal).toBeNull();
      const most = Number(body.maxPoints);
      expect((await user.get(quoteOf(most, partner))).body.refusal).toBeNull();
      const more = await user.get(quoteOf(most + 1, partner));
      expect(more.body.refusal).not.toBeNull();
    }
  });

  it('are 0 where a partner is paused, or its budget is below its least', async () => {
    const user = await aPlayer(service);
    const daily = parseDecimal('1');
    const id = await addPartner(service, 'Tiny', { minPoints: 1000n, dailyTokenBudget: daily });
    const { body } = await user.get('/api/partners/Tiny/limits').expect(200);
    expect(body).toEqual({
      ...{ partner: { id, name: 'Tiny' }, minPoints: 1000, maxPoints: 0 },
      coolDownSeconds: 300,
      refusal: expect.objectContaining({ code: 'PARTNER_BUDGET_SPENT', retryAfterSeconds: null }),
    });
    await new CallbackStore(await service.database.open()).pause(id, true);
    service.clock.advance(2_000);
    const paused = await user.get('/api/partners/Tiny/limits').expect(200);
    expect(paused.body.refusal.code).toBe('PARTNER_PAUSED');
  });
});

describe('minAmount', () => {
  it('takes nothing where the tokens of this moment are fewer, and says both', async () => {
    const user = await aPlayer(service);
    const { body: quote } = await user.get(quoteOf(1000)).expect(200);
    service.clock.advance(1000);
    await addPrice(service, '0.16');
    const order = { partner: 'Arena', points: 1000, minAmount: String(quote.amount) };
    const refused = await user.post('/api/redemptions', order).set('idempotency-key', 'k');
    expect(errorOf(refused)).toEqual({ status: 409, code: 'QUOTE_CHANGED' });
    expect(refused.body.message).toBe(
      '1000 points are 62.5 tokens at this moment, fewer than the 66.666666666666666666 that were asked for at least. No points were taken for this request.',
    );
    expect((await user.get('/api/redemptions')).body.redemptions).toEqual([]);
    expect(service.game.points.get(user.wallet)).toBe(10_000);
    service.clock.advance(1000);
    await addPrice(service, '0.14');
    const { body } = await user.post('/api/redemptions', order).set('idempotency-key', 'k');
    expect(BigInt(String(body.tokenAmount))).toBeGreaterThan(BigInt(order.minAmount));
  });

  it('is part of what the key stands for', async () => {
    const user = await aPlayer(service);
    const order = (minAmount?: string) =>
      user
        .post('/api/redemptions', {
          partner: 'Arena',
          points: 100,
          ...(minAmount && { minAmount }),
        })
        .set('idempotency-key', 'k');
    const { body: made } = await order('1').expect(201);
    expect((await order('1').expect(200)).body.id).toBe(made.id);
    const conflict = { status: 422, code: 'IDEMPOTENCY_CONFLICT' };
    expect(errorOf(await order('2'))).toEqual(conflict);
    expect(errorOf(await order())).toEqual(conflict);
  });

  it.each(['5', '"-1"', '"01"', '"1.5"', '""', '"1e3"', 'null', `"${'9'.repeat(79)}"`, '["1"]'])(
    'cannot be %s',
    async (least) => {
      const user = await aPlayer(service);
      const body = `{"partner":"Arena","points":100,"minAmount":${least}}`;
      const answer = await user.post('/api/redemptions', body).set('idempotency-key', 'k');
      expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field: 'minAmount' });
    },
  );
});
