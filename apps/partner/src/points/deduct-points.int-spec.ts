import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aDeduction,
  aPlayer,
  aRedemptionId,
  call,
  deduct,
  expectRefused,
  type Partner,
  pointsOf,
  revert,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
beforeAll(async () => {
  partner = await startPartner();
});
afterAll(() => partner.stop());

describe('GET /get-points-by-address', () => {
  it('tells the points of the wallet, in whatever case it is asked for', async () => {
    const address = await aPlayer(partner, 0);
    const asked = `0x${address.slice(2).toUpperCase()}`;
    const answer = await call(partner, `/get-points-by-address?address=${asked}&more=1`);
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: {
        success: true,
        partnerUserId: expect.stringMatching(/^player_/),
        address,
        points: 0,
        chain: 'ethereum',
      },
    });
  });

  it('answers ERR-USER-NOT-FOUND for a wallet without a player', async () => {
    const answer = await call(partner, `/get-points-by-address?address=0x${'0'.repeat(40)}`);
    expectRefused(answer, 'ERR-USER-NOT-FOUND');
  });

  it.each([
    '',
    '?address=',
    '?address=0x12',
    `?address=0x${'0'.repeat(40)}&address=0x${'0'.repeat(40)}`,
    '?__proto__=x&constructor=y',
    '?address[]=x',
    '?address=%00%ff',
  ])('names the field of the query %j', async (query) => {
    const answer = await call(partner, `/get-points-by-address${query}`);
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toMatch(/address (must be 0x|is missing)/);
  });
});

describe('POST /deduct-points-by-address', () => {
  it('takes the points and gives the deduction an id of its own', async () => {
    const one = await aDeduction(partner, { had: 1000, deductPoints: 1000 });
    const two = await aDeduction(partner, { had: 1000, deductPoints: 1 });
    expect(one.partnerTransactionId).not.toBe(two.partnerTransactionId);
    expect(await pointsOf(partner, one.booking.address)).toBe(0);
    expect(await pointsOf(partner, two.booking.address)).toBe(999);
  });

  it('answers a repeated svcRedemptionId with ERR-DUPLICATE-REQUEST, the id of the deduction, and takes nothing', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    const again = { ...booking, svcRedemptionId: booking.svcRedemptionId.toUpperCase() };
    for (const repeated of [booking, again]) {
      const answer = await deduct(partner, repeated);
      expectRefused(answer, 'ERR-DUPLICATE-REQUEST', { partnerTransactionId });
    }
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });

  it('names no id to a duplicate on other terms: the deduction is not what was asked for', async () => {
    const { booking } = await aDeduction(partner);
    const address = await aPlayer(partner, 1000);
    for (const other of [{ address }, { deductPoints: 299 }, { address: '0x' + '0'.repeat(40) }]) {
      const answer = await call(partner, '/deduct-points-by-address', { ...booking, ...other });
      expectRefused(answer, 'ERR-DUPLICATE-REQUEST');
    }
    expect(await pointsOf(partner, address)).toBe(1000);
  });

  it('names no id to a duplicate of a deduction that was reverted: nothing stands that could be paid for', async () => {
    const { booking } = await aDeduction(partner);
    expect((await revert(partner, booking)).body['success']).toBe(true);
    expectRefused(await deduct(partner, booking), 'ERR-DUPLICATE-REQUEST');
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('refuses more than there is, and the same redemption may be tried again later', async () => {
    const address = await aPlayer(partner, 10);
    const booking = { address, deductPoints: 11, svcRedemptionId: aRedemptionId() };
    expectRefused(await deduct(partner, booking), 'ERR-INSUFFICIENT-POINTS');
    expect(await pointsOf(partner, address)).toBe(10);
    const text = 'UPDATE game.player SET points = 11 WHERE wallet = $1';
    await partner.database.query({ text }, [address]);
    expect((await deduct(partner, booking)).body['success']).toBe(true);
    expect(await pointsOf(partner, address)).toBe(0);
  });

  it('refuses a wallet without a player', async () => {
    const address = '0x00000000000000000000000000000000000000ff';
    const booking = { address, deductPoints: 1, svcRedemptionId: aRedemptionId() };
    expectRefused(await call(partner, '/deduct-points-by-address', booking), 'ERR-USER-NOT-FOUND');
  });

  it('ten identical calls at once deduct once', async () => {
    const address = await aPlayer(partner, 1000);
    const booking = { address, deductPoints: 70, svcRedemptionId: aRedemptionId() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => deduct(partner, booking)));
    const done = answers.filter(({ body }) => body['success'] === true);
    expect(done).toHaveLength(1);
    const partnerTransactionId = done[0]?.body['partnerTransactionId'];
    for (const answer of answers.filter((one) => one !== done[0])) {
      expectRefused(answer, 'ERR-DUPLICATE-REQUEST', { partnerTransactionId });
    }
    expect(await pointsOf(partner, address)).toBe(930);
  });

  it('ten different calls at once never take more than there is', async () => {
    const address = await aPlayer(partner, 100);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        deduct(partner, { address, deductPoints: 30, svcRedemptionId: aRedemptionId() }),
      ),
    );
    const codes = answers.map(({ body }) => body['errorCode'] ?? 'done').sort();
    expect(codes).toEqual([
      ...Array<string>(7).fill('ERR-INSUFFICIENT-POINTS'),
      'done',
      'done',
      'done',
    ]);
    expect(await pointsOf(partner, address)).toBe(10);
  });

  it('the table itself refuses points below zero', async () => {
    const address = await aPlayer(partner, 5);
    const text = 'UPDATE game.player SET points = points - 6 WHERE wallet = $1';
    await expect(partner.database.query({ text }, [address])).rejects.toMatchObject({
      sqlState: '23514',
    });
  });
});
