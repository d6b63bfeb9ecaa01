import { afterAll, beforeAll, describe, expect, it, afterEach } from '@jest/globals';
import request from 'supertest';
import { type Response } from 'supertest';
import { randomBytes } from 'node:crypto';
import { testConstants } from '#libs/config';
import { mintUuidV7, newRedemption, parseDecimal, transition } from '#libs/domain';
import {
  addPartner,
  addPrice,
  aPlayer,
  errorOf,
  inState,
  type Service,
  startService,
  QUICK_PAYOUTS,
  aQuietOne,
  aUser,
  type User,
} from '../testing/redemption-harness.support.js';
import { someKey, someTerms } from '../testing/stage.support.js';
import { type PartnerBehaviour, refusal } from '#libs/testing/partner';

const NOBODY = '0199d000-0000-7000-8000-00000000dead';
const NOTHING_TAKEN = 'No points were taken for this request.';

let service: Service;

beforeAll(async () => {
  service = await startService({ WALLET_DAILY_TOKEN_BUDGET: '1000' });
  await addPartner(service, 'Arena', { minPoints: 10n, maxPoints: 20_000n });
  await addPartner(service, 'Bonus', {
    bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  });
  await addPartner(service, 'Small', { dailyTokenBudget: parseDecimal('50') });
  await addPrice(service);
});
afterAll(() => service.stop());

describe('the idempotency key', () => {
  it('makes one redemption, however often and at once it is used', async () => {
    const user = await aPlayer(service);
    const asked = Array.from({ length: 5 }, () => user.redeem('Arena', 100, 'same'));
    const answers: Response[] = await Promise.all(asked);
    const made = answers.filter(({ status }) => status === 201);
    expect([made.length, new Set(answers.map(({ body }) => String(body.id))).size]).toEqual([1, 1]);
    const again = await user.redeem('Arena', 100, 'same').expect(200);
    expect(again.body.id).toBe(made[0]?.body.id);
  });

  it('of another request is refused, also while nothing could be quoted', async () => {
    const user = await aPlayer(service);
    const { body } = await user.redeem('Arena', 100, 'mine').expect(201);
    const conflict = { status: 422, code: 'IDEMPOTENCY_CONFLICT' };
    expect(errorOf(await user.redeem('Arena', 101, 'mine'))).toEqual(conflict);
    expect(errorOf(await user.redeem('arena', 100, 'mine'))).toEqual(conflict);
    service.clock.advance(7_201_000);
    const replay = await user.redeem('Arena', 100, 'mine').expect(200);
    expect(replay.body.id).toBe(body.id);
    const stale = await (await aPlayer(service)).redeem('Arena', 100);
    expect(errorOf(stale)).toEqual({ status: 409, code: 'PRICE_STALE' });
    await addPrice(service);
    expect(stale.body.message).toContain(NOTHING_TAKEN);
  });

  it('belongs to one wallet', async () => {
    const [one, other] = [await aPlayer(service), await aPlayer(service)];
    const first = await one.redeem('Arena', 100, 'k').expect(201);
    const second = await other.redeem('Arena', 100, 'k').expect(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it.each([undefined, '', 'x'.repeat(256), 'a b', 'é', 'a, b'])('cannot be %p', async (key) => {
    const user = await aPlayer(service);
    const asked = user.post('/api/redemptions', { partner: 'Arena', points: 100 });
    if (key !== undefined) void asked.set('idempotency-key', Buffer.from(key).toString('latin1'));
    const answer = await asked;
    expect(errorOf(answer)).toMatchObject({ status: 400, field: 'Idempotency-Key' });
  });

  it('says that it is in progress where others take too long', async () => {
    const user = await aPlayer(service);
    const { pool } = await service.database.open();
    const client = await pool.connect();
    try {
      await client.query('SELECT pg_advisory_lock(4217, hashtext($1))', [user.wallet]);
      const answer = await user.redeem('Arena', 100);
      expect(errorOf(answer)).toEqual({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS' });
      expect(answer.headers['retry-after']).toBe('1');
    } finally {
      client.release(true);
    }
  });
});

describe('limits', () => {
  it.each([
    ['Arena', 9, '422 TOO_FEW_POINTS', /^At least 10 points can be redeemed with this partner\.$/],
    ['Arena', 20_001, '422 TOO_MANY_POINTS', /^At most 20000 points/],
    ['Bonus', 20_000, '409 WALLET_BUDGET_SPENT', /At most 14705 points could .*No points were/],
    ['Small', 1000, '409 PARTNER_BUDGET_SPENT', /At most 750 points could .*No points were/],
    ['Bonus', Number.MAX_SAFE_INTEGER, '422 TOO_MANY_POINTS', /Redeem fewer points\.$/],
  ])(
    'of %s refuse %p points: %s, as the quote says before',
    async (partner, points, expected, message) => {
      const user = await aPlayer(service, 1_000_000);
      const quote = await user.get(`/api/partners/${partner}/quote?points=${points}`).expect(200);
      const { status, body } = await user.redeem(partner, points);
      expect(`${status} ${String(body.code)}`).toBe(expected);
      expect(body.message).toMatch(message);
      const said = String(body.message).replace(` ${NOTHING_TAKEN}`, '');
      expect(quote.body.refusal).toMatchObject({ code: body.code, message: said });
      expect(quote.body.amount).toMatch(/^[1-9]\d*$/);
      expect((await user.get('/api/redemptions')).body.redemptions).toEqual([]);
    },
  );

  it('allow one open redemption at a partner, and name it', async () => {
    const user = await aPlayer(service);
    const open = await user.redeem('Arena', 100).expect(201);
    const answer = await user.redeem('Arena', 100);
    expect(errorOf(answer)).toEqual({ status: 409, code: 'REDEMPTION_OPEN' });
    expect(answer.body.message).toContain(`Redemption ${String(open.body.id)} with this partner`);
    expect(answer.body.message).toContain(NOTHING_TAKEN);
    await user.redeem('Bonus', 100).expect(201);
  });

  it('are needed: a partner without a daily budget is as if it were paused, and the log says why', async () => {
    const id = await addPartner(service, 'Boundless', { dailyTokenBudget: undefined });
    const user = await aPlayer(service);
    const answer = await user.redeem('Boundless', 100);
    expect(errorOf(answer)).toEqual({ status: 409, code: 'PARTNER_PAUSED' });
    const { body } = await user.get('/api/partners').expect(200);
    expect(body.partners).toContainEqual(expect.objectContaining({ id, paused: true }));
    const told = service.logs.filter((line) => line.includes('it has no daily token budget'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"partnerName":"Boundless"');
  });
});

describe('a voucher that is left to expire', () => {
  it('is no option for nothing: the wallet waits, is told until when, and has spent its day', async () => {
    const lazy = await startService({
      VOUCHER_TTL_SECONDS: '10',
      ...testConstants({ ...QUICK_PAYOUTS, voucherCoolDownSeconds: 900 }),
      WALLET_DAILY_TOKEN_BUDGET: '10',
    });
    try {
      await addPartner(lazy, 'Arena');
      await addPrice(lazy);
      const user = await aPlayer(lazy);
      const { body } = await user.redeem('Arena', 100).expect(201);
      const id = String(body.id);
      await inState(lazy, id, 'authorised');
      lazy.clock.advance(11_000);
      await lazy.bench.mineAt(Math.ceil(lazy.clock.nowMs() / 1000));
      await lazy.bench.finalise();
      await inState(lazy, id, 'reverted');
      // The token's price has fallen, so the same points give more tokens.
      await addPrice(lazy, '0.14');
      const refused = await user.redeem('Arena', 100);
      expect(errorOf(refused)).toEqual({ status: 409, code: 'VOUCHER_COOL_DOWN' });
      const waitSeconds = Number(refused.headers['retry-after']);
      expect(waitSeconds).toBeGreaterThan(0);
      expect(waitSeconds).toBeLessThanOrEqual(900);
      const until = /again at (\S+Z), in (\d+) seconds/.exec(String(refused.body.message));
      expect(Number(until?.[2])).toBe(waitSeconds);
      lazy.clock.set(Date.parse(until?.[1] ?? ''));
      await addPrice(lazy, '0.14');
      const spent = await user.redeem('Arena', 100);
      expect(errorOf(spent)).toEqual({ status: 409, code: 'WALLET_BUDGET_SPENT' });
      expect(spent.body.message).toContain('At most 46 points');
      expect((await user.redeem('Arena', 47)).status).toBe(409);
      await user.redeem('Arena', 46).expect(201);
    } finally {
      await lazy.stop();
    }
  });
});

describe('a request that makes no sense', () => {
  const expectField = (answer: Response, field: string): void => {
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field });
  };

  it.each([
    '0',
    '-1',
    '-0',
    '5.5',
    '"5"',
    '1e400',
    '-1e400',
    '9007199254740992',
    'null',
    'true',
    '[5]',
    '{}',
  ])('redeems no %s points', async (points) => {
    const user = await aPlayer(service);
    const body = `{"partner":"Arena","points":${points}}`;
    const answer = await user.post('/api/redemptions', body).set('idempotency-key', 'k');
    expectField(answer, 'points');
  });

  it.each(['""', '5', 'null', '["Arena"]', '"\\u0000"', '"\\ud800"', `"${'x'.repeat(256)}"`])(
    'is for no partner %s',
    async (partner) => {
      const user = await aPlayer(service);
      const body = `{"partner":${partner},"points":100}`;
      const answer = await user.post('/api/redemptions', body).set('idempotency-key', 'k');
      expectField(answer, 'partner');
    },
  );

  it.each([
    ['', 'must be a JSON object'],
    ['[]', 'must be a JSON object'],
    ['{"partner":"Arena","points":100} x', 'is not JSON: line 1, column 34'],
    [
      '{"partner":"Arena",\n"points":1,\n"\\u0070oints":100}',
      'has a name twice in one object: line 3, column 1',
    ],
  ])('has no body %p', async (body, fault) => {
    const user = await aPlayer(service);
    const answer = await user
      .post('/api/redemptions')
      .set('content-type', 'application/json')
      .set('idempotency-key', 'k')
      .send(body);
    expectField(answer, 'body');
    expect(answer.body).toMatchObject({ message: `The body ${fault}.` });
  });

  it('is not for a partner that is not there', async () => {
    const user = await aPlayer(service);
    for (const partner of ['Nobody', NOBODY, '__proto__']) {
      const answer = await user.redeem(partner, 100);
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
  });
});

// The last suite, since it takes all that the vault holds.
describe('the vault', () => {
  it('is not promised twice', async () => {
    const user = await aPlayer(service);
    await user.redeem('Arena', 100).expect(201);
    const nowMs = service.clock.nowMs();
    const terms = someTerms(nowMs, {
      tokenAmount: await service.bench.tokens(service.bench.vault),
      quoteExpiresAtMs: nowMs + 1_000_000,
    });
    const later = { nextActionAtMs: nowMs + 1_000_000 };
    const waiting = { ...newRedemption(terms, nowMs), ...later };
    const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60 };
    await service.store.create(waiting, someKey(), limits);
    expect(await service.store.promisedTokens()).toBeLessThan(terms.tokenAmount);
    const requestId = mintUuidV7(nowMs, randomBytes(10));
    const policy = { capabilities: [], confirms: true };
    const context = { nowMs, jitter: 0, policy };
    const decision = transition(waiting, { type: 'call-due', requestId }, context);
    if (decision.kind === 'refused') throw new Error(decision.message);
    await service.store.apply({
      before: waiting,
      decision: { ...decision, next: { ...decision.next, ...later } },
      event: 'call-due',
      actor: 'worker',
    });
    expect(await service.store.promisedTokens()).toBeGreaterThanOrEqual(terms.tokenAmount);
    const refused = await (await aPlayer(service)).redeem('Arena', 100);
    expect(errorOf(refused)).toEqual({ status: 409, code: 'PAYOUTS_UNAVAILABLE' });
    expect(refused.headers['retry-after']).toBe('10');
    expect(refused.body.message).toContain(NOTHING_TAKEN);
    expect((await request(service.url).get('/metrics')).text).toMatch(
      /^lowmark_payouts_refused_total\{reason="balance",app="redemption"\} [1-9]/m,
    );
  });
});

describe('crowds of wallets', () => {
  const CROWD = 16;
  const HONEST = 5;
  /** At 0.01 USD a point and 0.15 USD a token. */
  const POINTS = 1500;
  const TOKENS_EACH = 100n;

  let service: Service;
  let honest: PartnerBehaviour;

  beforeAll(async () => {
    service = await startService();
    honest = service.game.behave;
    await addPrice(service);
  });
  afterEach(() => {
    service.game.behave = honest;
    service.game.delayMs = 0;
  });
  afterAll(() => service.stop());

  /** A partner whose budget is enough for the honest players only. */
  async function aBusyPartner(name: string): Promise<void> {
    const dailyTokenBudget = parseDecimal((TOKENS_EACH * BigInt(HONEST)).toString());
    await addPartner(service, name, { dailyTokenBudget });
  }

  function crowd(pointsOf: (index: number) => number | undefined): Promise<User[]> {
    return Promise.all(
      Array.from({ length: CROWD }, async (_, index) => {
        const user = await aUser(service);
        const points = pointsOf(index);
        if (points !== undefined) service.game.points.set(user.wallet, points);
        return user;
      }),
    );
  }

  const asked = (users: readonly User[], partner: string, points: number): Promise<Response[]> =>
    Promise.all(users.map((user) => user.redeem(partner, points)));

  async function rowsOf(users: readonly User[]): Promise<number> {
    const [row] = await (
      await service.database.open()
    ).query<{ count: number }>(
      {
        text: `SELECT count(*)::int AS count FROM redemption.redemption WHERE encode(wallet, 'hex') = ANY ($1)`,
      },
      [users.map(({ wallet }) => wallet.slice(2))],
    );
    return row?.count ?? 0;
  }

  describe('a crowd of wallets without the points', () => {
    it('keeps none of the honest players from redeeming', async () => {
      await aBusyPartner('Arena');
      // Each of the crowd asks for as many points as the whole budget is worth, and has none or a few.
      const whole = POINTS * HONEST;
      const free = await crowd((index) => (index % 2 === 0 ? undefined : index));
      const honest = await Promise.all(Array.from({ length: HONEST }, () => aPlayer(service)));
      // Tokens are reserved during a deduction, so slow deductions would help the crowd.
      service.game.delayMs = 300;
      const refused = asked(free, 'Arena', whole);
      const answers: Response[] = [];
      for (const player of honest) answers.push(await player.redeem('Arena', POINTS));
      service.game.delayMs = 0;
      expect(answers.map(({ status }) => status)).toEqual(Array(HONEST).fill(201));
      for (const { body } of answers) await inState(service, String(body.id), 'authorised');
      const codes = (await refused).map((answer) => errorOf(answer));
      expect(codes.filter((_, index) => index % 2 === 0)).toEqual(
        Array(CROWD / 2).fill({ status: 404, code: 'USER_NOT_FOUND' }),
      );
      expect(codes.filter((_, index) => index % 2 === 1)).toEqual(
        Array(CROWD / 2).fill({ status: 409, code: 'INSUFFICIENT_POINTS' }),
      );
      expect(await rowsOf(free)).toBe(0);
    });

    it('does not even reach the partner a second time before it has waited', async () => {
      await aBusyPartner('Bazaar');
      const free = await crowd(() => 1);
      await asked(free, 'Bazaar', 2);
      const calls = service.game.calls.length;
      const again = await asked(free, 'Bazaar', 2);
      expect(again.map((answer) => errorOf(answer))).toEqual(
        Array(CROWD).fill({ status: 429, code: 'RATE_LIMIT_EXCEEDED' }),
      );
      expect(service.game.calls).toHaveLength(calls);
    });
  });

  describe('a wallet that asks for points it does not have', () => {
    it('waits longer each time, is told so, and can redeem what it has after that', async () => {
      await addPartner(service, 'Castle');
      const user = await aPlayer(service, 100);
      for (const seconds of [5, 10, 20, 40]) {
        const refused = await user.redeem('Castle', 101);
        expect(errorOf(refused)).toEqual({ status: 409, code: 'INSUFFICIENT_POINTS' });
        expect(refused.headers['retry-after']).toBe(String(seconds));
        expect(refused.body.message).toBe(
          `You have 100 points with this partner, and asked for 101. You can ask again in ${seconds} s. No points were taken for this request.`,
        );
        const early = await user.redeem('Castle', 100);
        expect(errorOf(early)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
        expect(early.headers['retry-after']).toBe(String(seconds));
        service.clock.advance(seconds * 1000);
      }
      const { body } = await user.redeem('Castle', 100).expect(201);
      // The deduction ends before the next test, whose answer it must not use up.
      await inState(service, String(body.id), 'authorised');
    });

    it('does not wait after a refusal that nobody signed', async () => {
      await addPartner(service, 'Cellar');
      const user = await aPlayer(service, 100);
      const answer = { status: 404, body: refusal('ERR-USER-NOT-FOUND'), signature: null };
      service.game.behave = () => answer;
      expect(errorOf(await user.redeem('Cellar', 100))).toEqual({
        ...{ status: 502, code: 'PARTNER_ERROR' },
      });
      service.game.behave = honest;
      const { body } = await user.redeem('Cellar', 100).expect(201);
      await inState(service, String(body.id), 'authorised');
    });

    it('waits as well where it spent them before they could be taken', async () => {
      await addPartner(service, 'Dungeon');
      const user = await aPlayer(service, 100);
      service.game.next('deduct', () => ({
        success: false,
        errorCode: 'ERR-INSUFFICIENT-POINTS',
        errorMessage: 'spent',
      }));
      const { body } = await user.redeem('Dungeon', 100).expect(201);
      await inState(service, String(body.id), 'failed');
      const again = await user.redeem('Dungeon', 100);
      expect(errorOf(again)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    });

    it('waits as well after it has cancelled what was not begun', async () => {
      const partner = await addPartner(service, 'Estate');
      const user = await aPlayer(service, 100);
      const id = await aQuietOne(service, user, { partner });
      const { body } = await user.post(`/api/redemptions/${id}/cancel`).expect(202);
      expect(body).toMatchObject({ stage: 'failed', reason: 'user-cancelled' });
      const again = await user.redeem('Estate', 100);
      expect(errorOf(again)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    });

    it('is told of what its other request with this key has made', async () => {
      await addPartner(service, 'Fortress');
      const { game } = service;
      const user = await aPlayer(service, 100);
      let reads = 0;
      game.behave = (call) => {
        if (!call.path.startsWith('/get-') || ++reads === 1) return honest(call);
        // By now the first request has made its redemption and taken the points.
        game.delayMs = 2000;
        const answer = honest(call)?.body as object;
        return { body: { ...answer, points: 0 } };
      };
      const asked = [1, 2].map(() => user.redeem('Fortress', 100, 'twice'));
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
      expect(new Set(answers.map(({ body }) => String(body.id))).size).toBe(1);
    });

    it('waits for nothing that the partner is to blame for', async () => {
      await addPartner(service, 'Fallen', { url: 'http://127.0.0.1:1' });
      const user = await aPlayer(service, 100);
      for (let count = 0; count < 3; count++) {
        const answer = await user.redeem('Fallen', 100);
        expect(errorOf(answer)).toEqual({ status: 503, code: 'PARTNER_UNAVAILABLE' });
        expect(answer.body.message).toContain('No points were taken for this request.');
      }
      expect(await rowsOf([user])).toBe(0);
    });
  });
});
