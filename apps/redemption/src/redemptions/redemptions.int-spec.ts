import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Response } from 'supertest';
import { parseDecimal, type PartnerId, type UuidV7 } from '#libs/domain';
import {
  addPartner,
  addPrice,
  aPlayer,
  aQuietOne,
  errorOf,
  inState,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const NOBODY = '0199d000-0000-7000-8000-00000000dead';

let service: Service;
let partnerId: PartnerId;

beforeAll(async () => {
  service = await startService();
  partnerId = await addPartner(service, 'Arena');
  await addPartner(service, 'Bonus', {
    bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  });
  await addPrice(service);
});
afterAll(() => service.stop());

function idsOf({ body }: Response): string[] {
  return (body.redemptions as { id: string }[]).map(({ id }) => id);
}

describe('a redemption', () => {
  it('goes from points to tokens, and its user can follow it', async () => {
    const user = await aPlayer(service);
    const created = await user.redeem('bonus', 5000).expect(201);
    expect(created.body).toMatchObject({
      partner: { name: 'Bonus' },
      wallet: user.wallet,
      points: 5000,
      usdAmount: 50,
      tokens: 340,
      tokenAmount: `340${'0'.repeat(18)}`,
      priceUsd: 0.15,
      payableUntil: null,
      status: 'initial',
      stage: 'created',
      cancelRequested: false,
      txnHash: null,
      voucher: null,
    });
    const { id } = created.body;
    await inState(service, id, 'authorised');
    const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
    expect(body).toMatchObject({ status: 'pending', stage: 'authorised' });
    expect(service.game.points.get(user.wallet)).toBe(5000);
    const { vault, calldata, recipient, amount } = body.voucher;
    expect([vault, recipient, amount]).toEqual([
      service.bench.vault,
      user.wallet,
      body.tokenAmount,
    ]);
    const [outcome] = await service.bench.mine({ from: user.wallet, to: vault, data: calldata });
    expect(outcome?.error).toBeUndefined();
    expect(await service.bench.tokens(user.wallet)).toBe(BigInt(amount));
    await service.bench.finalise();
    await inState(service, id, 'claimed');
    const claimed = await user.get(`/api/redemptions/${id}`).expect(200);
    expect(claimed.body).toMatchObject({
      status: 'claimed',
      txnHash: outcome?.transactionHash,
      ...{ cancellableUntil: null, payableUntil: null, returnsBy: null, revertedAt: null },
      voucher: null,
    });
    expect(Date.parse(claimed.body.claimedAt)).toBeGreaterThan(0);
  });

  it('of another wallet is not there', async () => {
    const [owner, other] = [await aPlayer(service), await aPlayer(service)];
    const id = await aQuietOne(service, owner, { partner: partnerId });
    await owner.get(`/api/redemptions/${id}`).expect(200);
    for (const path of [`/api/redemptions/${id}`, `/api/redemptions/${NOBODY}`]) {
      expect(errorOf(await other.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect(errorOf(await other.post(`${path}/cancel`))).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
    }
    const list = await other.get('/api/redemptions').expect(200);
    expect(list.body).toEqual({ redemptions: [], next: null });
    expect((await owner.get('/api/redemptions/1')).status).toBe(404);
    expect((await owner.get('/api/redemptions/%00')).status).toBe(404);
  });

  it('is in the list page by page, newest first', async () => {
    const user = await aPlayer(service);
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      service.clock.advance(10);
      ids.unshift(await aQuietOne(service, user, {}));
    }
    const first = await user.get('/api/redemptions?limit=2').expect(200);
    const second = await user.get(`/api/redemptions?limit=2&before=${first.body.next}`);
    const last = await user.get(`/api/redemptions?limit=2&before=${second.body.next}`);
    expect([first, second, last].flatMap(idsOf)).toEqual(ids);
    expect(last.body.next).toBeNull();
    const whole = await user.get('/api/redemptions?limit=5&unknown=1').expect(200);
    expect([whole.body.redemptions.length, whole.body.next]).toEqual([5, null]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['before=x', 'before'],
    [`before=${NOBODY}&before=${NOBODY}`, 'before'],
  ])('is listed for no %s', async (query, field) => {
    const user = await aPlayer(service);
    const answer = await user.get(`/api/redemptions?${query}`);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field });
  });
});

describe('cancelling', () => {
  it('ends a redemption of which nothing was sent', async () => {
    const user = await aPlayer(service);
    const id = await aQuietOne(service, user, { partner: partnerId });
    const { body } = await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    expect(body).toMatchObject({
      status: 'failed',
      reason: 'user-cancelled',
      cancelRequested: true,
    });
    const again = await user.post(`/api/redemptions/${id}/cancel`);
    expect(errorOf(again)).toEqual({ status: 409, code: 'FINAL' });
  });

  it('of an authorised payout takes the voucher away and leaves the rest to the chain', async () => {
    const user = await aPlayer(service);
    const { id } = (await user.redeem('Arena', 100).expect(201)).body;
    await inState(service, id, 'authorised');
    const { body } = await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    const payableUntil = expect.stringMatching(/T.*Z$/) as unknown;
    const open = { status: 'pending', cancelRequested: true, voucher: null, payableUntil };
    expect(body).toMatchObject(open);
    const version = await versionOf(id);
    await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    expect(await versionOf(id)).toBe(version);
  });

  it('does not wait for a deduction whose outcome is open', async () => {
    const user = await aPlayer(service);
    const playing = service.game.behave;
    service.game.behave = (call) =>
      call.path.startsWith('/get-') ? playing(call) : { status: 500, body: {}, signature: null };
    try {
      const { id } = (await user.redeem('Arena', 100).expect(201)).body;
      await inState(service, id, 'deducting');
      const answer = await user.post(`/api/redemptions/${id}/cancel`);
      expect(errorOf(answer)).toEqual({ status: 409, code: 'NOT_YET_CANCELLABLE' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      service.game.behave = playing;
    }
  });

  async function versionOf(id: string): Promise<unknown> {
    return (await service.store.get(id as UuidV7))?.redemption.version;
  }
});

describe('a voucher', () => {
  it('is shown until its deadline, which is told until the points are back', async () => {
    const user = await aPlayer(service);
    const { body: created } = await user.redeem('Arena', 100).expect(201);
    await inState(service, created.id, 'authorised');
    const path = `/api/redemptions/${created.id}`;
    const { body } = await user.get(path).expect(200);
    service.clock.advance(body.voucher.deadline * 1000 - service.clock.nowMs());
    expect((await user.get(path)).body.voucher).toEqual(body.voucher);
    const payableUntil = new Date(body.voucher.deadline * 1000).toISOString();
    expect(body.payableUntil).toBe(payableUntil);
    service.clock.advance(1);
    const expired = { stage: 'authorised', voucher: null, payableUntil };
    expect((await user.get(path)).body).toMatchObject(expired);
    await service.bench.mineAt(Number(body.voucher.deadline) + 1);
    await service.bench.finalise();
    await inState(service, created.id, 'reverted');
    expect((await user.get(path)).body).toMatchObject({ payableUntil: null });
  });
});
