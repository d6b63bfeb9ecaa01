import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallbackStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import fc from 'fast-check';
import request from 'supertest';
import {
  addPartner,
  addPrice,
  aPlayer,
  aUser,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

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
  await addPrice(service);
});
afterAll(() => service.stop());

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

  it('is the creation of the same moment, of any price, bonus and points', async () => {
    const figures = fc.record({
      points: fc.integer({ min: 10, max: 20_000 }),
      price: fc.integer({ min: 150, max: 100_000_000 }).map((n) => (n / 1e3).toFixed(3)),
      rate: fc.integer({ min: 0, max: 5000 }).map((n) => (n / 1e4).toFixed(4)),
      fromPoints: fc.bigInt({ min: 1n, max: 20_000n }),
    });
    let count = 0;
    const asks = fc.asyncProperty(figures, async ({ points, price, rate, fromPoints }) => {
      const name = `Any ${(count += 1)}`;
      await addPartner(service, name, { bonus: { fromPoints, rate: parseDecimal(rate) } });
      await addPrice(service, price);
      const user = await aPlayer(service, 20_000);
      const { body: quote } = await user.get(quoteOf(points, name)).expect(200);
      const made = await user.redeem(name, points);
      if (quote.refusal !== null) {
        expect(errorOf(made)).toMatchObject({ code: quote.refusal.code });
        return;
      }
      const { tokenAmount, tokens, priceUsd, usdAmount } = made.body;
      expect([made.status, tokenAmount, tokens, priceUsd, usdAmount]).toEqual([
        ...[201, quote.amount, quote.tokens, quote.priceUsd, quote.usdValue],
      ]);
    });
    await fc.assert(asks, { numRuns: 12 });
    service.clock.advance(1000);
    await addPrice(service);
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
