import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import {
  FakePartner,
  type PartnerBehaviour,
  type PartnerCall,
  refusal,
} from '#libs/testing/partner';
import {
  addPartner,
  addPrice,
  aUser,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const NO_PLAYER = refusal('ERR-USER-NOT-FOUND');
const playerOf = ({ body: { address } }: PartnerCall) => ({
  ...{ success: true, partnerUserId: 'u', address, points: 1, chain: 'local' },
});

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

  it.each<[string, string, PartnerBehaviour]>([
    ['no such player', '404 USER_NOT_FOUND', () => ({ body: NO_PLAYER })],
    [
      'no such player, unsigned',
      '502 PARTNER_ERROR',
      () => ({ status: 404, body: NO_PLAYER, signature: null }),
    ],
    ['our key refused', '502 PARTNER_ERROR', () => ({ body: refusal('ERR-AUTH-FAILED') })],
    ['no signature', '502 PARTNER_ERROR', (call) => ({ body: playerOf(call), signature: null })],
    [
      'points that are none',
      '502 PARTNER_ERROR',
      (call) => ({ body: { ...playerOf(call), points: -5 } }),
    ],
    [
      'another player',
      '502 PARTNER_ERROR',
      (call) => ({ body: { ...playerOf(call), address: `0x${'1'.repeat(40)}` } }),
    ],
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
    await addPrice(service);
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
