import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aClaim,
  aDeduction,
  type Answer,
  anUnknownId,
  aPlayer,
  aRedemptionId,
  confirm,
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

const reason = { revertReason: 'Timeout: the redemption was not claimed' };

function expectReverted(answer: Answer, partnerTransactionId: string): string {
  expect(answer).toMatchObject({
    status: 200,
    body: {
      success: true,
      partnerTransactionId,
      partnerRevertId: expect.stringMatching(/^prv_/),
    },
  });
  return String(answer.body['partnerRevertId']);
}

describe('POST /revert-deduct-points', () => {
  it('gives the points back by both ids, under an id of its own', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    const answer = await revert(partner, { ...booking, partnerTransactionId, ...reason });
    expect(expectReverted(answer, partnerTransactionId)).not.toBe(partnerTransactionId);
    expect(await pointsOf(partner, booking.address)).toBe(1000);
    const text = 'SELECT reason FROM game.revert WHERE svc_redemption_id = $1';
    expect(await partner.database.query({ text }, [booking.svcRedemptionId])).toEqual([
      { reason: reason.revertReason },
    ]);
  });

  it('gives the points back by svcRedemptionId alone', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    expectReverted(await revert(partner, booking), partnerTransactionId);
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('never gives them back twice: ERR-ALREADY-REVERTED with the partnerRevertId, whatever the amount', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    const first = await revert(partner, booking);
    const partnerRevertId = expectReverted(first, partnerTransactionId);
    for (const more of [{}, { partnerTransactionId }, { deductPoints: 1 }]) {
      const answer = await revert(partner, { ...booking, ...more });
      expectRefused(answer, 'ERR-ALREADY-REVERTED', { partnerTransactionId, partnerRevertId });
    }
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('ten identical calls at once give back once', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    const answers = await Promise.all(Array.from({ length: 10 }, () => revert(partner, booking)));
    const done = answers.filter(({ body }) => body['success'] === true);
    expect(done).toHaveLength(1);
    const partnerRevertId = done[0]?.body['partnerRevertId'];
    for (const answer of answers.filter((one) => one !== done[0])) {
      expectRefused(answer, 'ERR-ALREADY-REVERTED', { partnerTransactionId, partnerRevertId });
    }
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('refuses another amount than was deducted', async () => {
    const { booking } = await aDeduction(partner);
    for (const deductPoints of [299, 301]) {
      expectRefused(await revert(partner, { ...booking, deductPoints }), 'ERR-INVALID-AMOUNT');
    }
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });

  it('refuses two ids that do not name one deduction, and touches neither', async () => {
    const one = await aDeduction(partner);
    const two = await aDeduction(partner);
    for (const partnerTransactionId of [two.partnerTransactionId, anUnknownId()]) {
      const answer = await revert(partner, { ...one.booking, partnerTransactionId });
      expectRefused(answer, 'ERR-TRANSACTION-NOT-FOUND');
    }
    expect(await pointsOf(partner, one.booking.address)).toBe(700);
    expect(await pointsOf(partner, two.booking.address)).toBe(700);
    // The refusal left no tombstone: the deduction stands and can still be reverted.
    expectReverted(await revert(partner, one.booking), one.partnerTransactionId);
  });

  it('a transaction id does not help a redemption that is not known', async () => {
    const { booking, partnerTransactionId } = await aDeduction(partner);
    const stranger = { ...booking, svcRedemptionId: aRedemptionId(), partnerTransactionId };
    expectRefused(await revert(partner, stranger), 'ERR-TRANSACTION-NOT-FOUND');
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });

  it('does not say "not found" of a deduction that stands, only because the wallet is another: refused and logged', async () => {
    const { booking } = await aDeduction(partner);
    const address = await aPlayer(partner, 0);
    const answer = await revert(partner, { ...booking, address });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toBe('address is not that of the deduction.');
    expect(await pointsOf(partner, address)).toBe(0);
    expect(partner.logs.join('')).toContain('A call contradicts the books');
  });

  it('leaves a tombstone where it finds nothing: a deduction that comes later is refused', async () => {
    const address = await aPlayer(partner, 1000);
    const booking = { address, deductPoints: 300, svcRedemptionId: aRedemptionId() };
    for (let i = 0; i < 2; i += 1) {
      expectRefused(await revert(partner, booking), 'ERR-TRANSACTION-NOT-FOUND');
      expectRefused(await deduct(partner, booking), 'ERR-DUPLICATE-REQUEST');
    }
    expectRefused(await confirm(partner, aClaim(booking)), 'ERR-REDEMPTION-NOT-FOUND');
    expect(await pointsOf(partner, address)).toBe(1000);
  });

  it('refuses to give back points whose redemption was confirmed as claimed, and logs it', async () => {
    const { booking } = await aDeduction(partner);
    expect((await confirm(partner, aClaim(booking))).body).toEqual({ success: true });
    const answer = await revert(partner, booking);
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toContain('confirmed as claimed');
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });
});
