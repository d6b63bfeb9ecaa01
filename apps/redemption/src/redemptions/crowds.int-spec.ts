/**
 * Crowds of wallets against the real service: wallets without points keep no player from redeeming, and have to wait
 * longer each time.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Response } from 'supertest';
import { parseDecimal } from '#libs/domain';
import { type PartnerBehaviour, refusal } from '#libs/testing/partner';
import {
  addPartner,
  addPrice,
  aPlayer,
  aQuietOne,
  aUser,
  errorOf,
  inState,
  type Service,
  startService,
  type User,
} from '../testing/redemption-harness.support.js';

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
