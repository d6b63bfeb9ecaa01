import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { testConstants } from '#libs/config';
import { VaultBench } from '#libs/testing/vault';
import {
  addPartner,
  addPrice,
  aPlayer,
  errorOf,
  inState,
  type Service,
  startService,
  QUICK_PAYOUTS,
} from '../testing/redemption-harness.support.js';

let service: Service;

beforeAll(async () => {
  service = await startService(testConstants({ ...QUICK_PAYOUTS, payoutExpiryMarginSeconds: 300 }));
  await addPartner(service, 'Arena');
  await addPrice(service);
});
afterAll(() => service.stop());

const chainOf = async (): Promise<Response> =>
  request(service.url).get('/api/chain').set('x-forwarded-for', '10.0.0.9');

describe('the chain', () => {
  it('is told without a session', async () => {
    const { bench } = service;
    const { status, body } = await chainOf();
    expect(status).toBe(200);
    expect(body).toEqual({
      chainId: bench.chain.chainId,
      vault: bench.vault,
      token: {
        address: bench.chain.contracts.token,
        symbol: expect.stringMatching(/^[A-Z]+$/),
        decimals: 18,
      },
      payouts: { available: true, reason: null, message: null },
      finalitySeconds: expect.any(Number),
    });
    expect(body.finalitySeconds).toBeGreaterThanOrEqual(0);
  });

  it('is asked for a hundred times at once from one address, and no more', async () => {
    const asked = Array.from({ length: 110 }, () =>
      request(service.url).get('/api/chain').set('x-forwarded-for', '10.9.9.9'),
    );
    const answers: Response[] = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(refused.map(errorOf)[0]).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  });
});

describe('the times of a redemption', () => {
  it('say until when it can be cancelled and claimed, and when the points are back', async () => {
    const user = await aPlayer(service);
    const { body: created } = await user.redeem('Arena', 100).expect(201);
    expect(created).toMatchObject({
      cancellableUntil: created.quoteExpiresAt,
      returnsBy: null,
      payableUntil: null,
    });
    await inState(service, created.id, 'authorised');
    const { body } = await user.get(`/api/redemptions/${created.id}`).expect(200);
    const { body: chain } = await chainOf();
    expect(body.cancellableUntil).toBe(body.payableUntil);
    expect(Date.parse(body.payableUntil)).toBe(body.voucher.deadline * 1000);
    const afterMs = Date.parse(body.returnsBy) - Date.parse(body.payableUntil);
    const margin = Math.max(300, chain.finalitySeconds);
    expect(afterMs).toBe((margin + 1 + 60) * 1000);
    await user.post(`/api/redemptions/${created.id}/cancel`).expect(202);
    const { body: cancelled } = await user.get(`/api/redemptions/${created.id}`).expect(200);
    expect(cancelled.cancellableUntil).toBeNull();
  });
});

// The last suite, since the vault pays nothing after it.
describe('a vault that is paused', () => {
  it('is why payouts are not available', async () => {
    await service.bench.mine(service.bench.call(VaultBench.PAUSER, 'pause'));
    service.clock.advance(10_000);
    const { body } = await chainOf();
    expect(body.payouts).toEqual({
      available: false,
      reason: 'paused',
      message: 'Payouts are paused at the moment. Try again later.',
    });
  });
});
