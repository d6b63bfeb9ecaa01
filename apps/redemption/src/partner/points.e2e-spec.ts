import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type PartnerBehaviour, refusal } from '#libs/testing';
import {
  addPartner,
  aUser,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support-spec.js';

let service: Service;
let partnerId: string;

beforeAll(async () => {
  service = await startService();
  partnerId = await addPartner(service, 'Arena');
  await addPartner(service, 'Gone', { url: 'http://127.0.0.1:1' });
});
afterAll(() => service.stop());

describe('points', () => {
  it('are what the partner says, by its name or id', async () => {
    const user = await aUser(service);
    service.game.points.set(user.wallet, 1234);
    const expected = {
      partner: { id: partnerId, name: 'Arena' },
      wallet: user.wallet,
      points: 1234,
      chain: 'local',
    };
    for (const partner of ['Arena', 'aRENA', partnerId, partnerId.toUpperCase()]) {
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

  it('are counted like every call to a partner', async () => {
    await addPartner(service, 'Counted');
    const user = await aUser(service);
    await user.get('/api/partners/Counted/points').expect(404);
    const { text } = await request(service.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /lowmark_partner_call_seconds_count\{app="redemption",partner="Counted",step="balance",outcome="refused"\} 1\n/,
    );
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

  it.each<[string, PartnerBehaviour, object]>([
    [
      'no such player',
      () => ({ body: refusal('ERR-USER-NOT-FOUND') }),
      { status: 404, code: 'USER_NOT_FOUND' },
    ],
    [
      'no such player, unsigned',
      () => ({ status: 404, body: refusal('ERR-USER-NOT-FOUND'), signature: null }),
      { status: 502, code: 'PARTNER_ERROR' },
    ],
    [
      'our key refused',
      () => ({ body: refusal('ERR-AUTH-FAILED') }),
      { status: 502, code: 'PARTNER_ERROR' },
    ],
    [
      'no signature',
      ({ body }) => ({ body: { ...aPlayer(body), points: 5 }, signature: null }),
      { status: 502, code: 'PARTNER_ERROR' },
    ],
    [
      'points that are none',
      ({ body }) => ({ body: { ...aPlayer(body), points: -5 } }),
      { status: 502, code: 'PARTNER_ERROR' },
    ],
    [
      'another player',
      ({ body }) => ({ body: { ...aPlayer(body), address: `0x${'1'.repeat(40)}` } }),
      { status: 502, code: 'PARTNER_ERROR' },
    ],
    [
      'a fault of its own',
      () => ({ status: 500, body: {}, signature: null }),
      { status: 503, code: 'PARTNER_UNAVAILABLE' },
    ],
  ])('of a partner that answers with %s', async (_, behave, expected) => {
    const playing = service.game.behave;
    service.game.behave = behave;
    try {
      const user = await aUser(service);
      expect(errorOf(await user.get('/api/partners/Arena/points'))).toEqual(expected);
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

function aPlayer({ address }: Readonly<Record<string, unknown>>) {
  return { success: true, partnerUserId: 'u', address, points: 1, chain: 'local' };
}
