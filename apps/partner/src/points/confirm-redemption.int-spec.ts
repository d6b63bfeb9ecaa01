import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aClaim,
  aDeduction,
  aPlayer,
  aRedemptionId,
  type Booking,
  aReversal,
  confirm,
  expectRefused,
  type Partner,
  revert,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
let booking: Booking;
beforeAll(async () => {
  partner = await startPartner();
});
beforeEach(async () => {
  ({ booking } = await aDeduction(partner));
  partner.logs.length = 0;
});
afterAll(() => partner.stop());

async function stored(): Promise<unknown[]> {
  const text = 'SELECT status, payload FROM game.confirmation WHERE svc_redemption_id = $1';
  return partner.database.query({ text }, [booking.svcRedemptionId]);
}

/** Waits until `count` sessions wait for a lock. */
async function waiting(count: number): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await partner.database.query({ text })).length < count);
}

function expectContradiction(): void {
  const warnings = partner.logs.filter((line) => line.includes('A call contradicts the books'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(booking.svcRedemptionId);
}

describe('POST /confirm-redemption', () => {
  it('stores a claim once, however often it comes and at once', async () => {
    const claim = aClaim(booking);
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(partner, claim)));
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    }
    expect(await stored()).toEqual([{ status: 'claimed', payload: claim }]);
  });

  it('stores that points went back', async () => {
    await revert(partner, booking);
    const reversal = aReversal(booking);
    expect((await confirm(partner, reversal)).body).toEqual({ success: true });
    expect((await confirm(partner, reversal)).body).toEqual({ success: true });
    expect(await stored()).toEqual([{ status: 'reverted', payload: reversal }]);
  });

  it('answers ERR-REDEMPTION-NOT-FOUND where nothing was deducted', async () => {
    const address = await aPlayer(partner, 1000);
    const unknown = aClaim({ address, deductPoints: 300, svcRedemptionId: aRedemptionId() });
    expectRefused(await confirm(partner, unknown), 'ERR-REDEMPTION-NOT-FOUND');
  });

  it('refuses and logs a claim whose points were given back', async () => {
    await revert(partner, booking);
    expectRefused(await confirm(partner, aClaim(booking)), 'ERR-ALREADY-REVERTED');
    expectContradiction();
    expect(await stored()).toEqual([]);
  });

  it('waits for a revert that is under way, and then refuses the claim', async () => {
    const blocker = await partner.database.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM game.player WHERE wallet = $1 FOR UPDATE', [
      booking.address,
    ]);
    const reverting = revert(partner, booking);
    await waiting(1);
    const confirming = confirm(partner, aClaim(booking));
    await waiting(2);
    await blocker.query('COMMIT');
    blocker.release();
    expect((await reverting).body['success']).toBe(true);
    expectRefused(await confirming, 'ERR-ALREADY-REVERTED');
    expect(await stored()).toEqual([]);
  });

  it('refuses and logs a reversal whose deduction stands', async () => {
    expectRefused(await confirm(partner, aReversal(booking)), 'ERR-INTERNAL');
    expectContradiction();
    expect(await stored()).toEqual([]);
  });

  it.each([
    ['amount', { deductPoints: 299 }, 'ERR-INVALID-AMOUNT'],
    ['wallet', { address: `0x${'1'.repeat(40)}` }, 'ERR-INTERNAL'],
  ])('refuses and logs another %s than was deducted', async (_, wrong, code) => {
    expectRefused(await confirm(partner, { ...aClaim(booking), ...wrong }), code);
    expectContradiction();
    expect(await stored()).toEqual([]);
  });

  it('refuses and logs a second confirmation that differs, and keeps the first', async () => {
    const claim = aClaim(booking);
    await confirm(partner, claim);
    const other = { ...claim, txnHash: `0x${'cd'.repeat(32)}` };
    expectRefused(await confirm(partner, other), 'ERR-INTERNAL');
    expectContradiction();
    expect(await stored()).toEqual([{ status: 'claimed', payload: claim }]);
  });

  it.each([
    ['txnConfirmed must be true', { txnConfirmed: false }],
    ['txnHash must be given', { txnHash: null }],
    ['txnHash must be 0x and 64 hex digits, or null', { txnHash: '0x12' }],
    ['claimedAt must be a time where claimed', { claimedAt: null }],
    ['claimedAt must be a time in ISO 8601', { claimedAt: 'yesterday' }],
    ['pendingAt must be a time', { pendingAt: '2026-13-45T99:00:00Z' }],
    ['initialAt must be a time', { initialAt: null }],
    ['revertedAt must be null', { revertedAt: '2026-11-20T07:30:00.000Z' }],
    ['status must be claimed or reverted', { status: 'failed' }],
    ['usdAmount must be a number', { usdAmount: -1 }],
    ['svcAmount must be a number', { svcAmount: '340' }],
    ['priceSvcUsd must be a number', { priceSvcUsd: null }],
  ])('refuses a claim where %s', async (message, wrong) => {
    const answer = await confirm(partner, { ...aClaim(booking), ...wrong });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toContain(message);
    expect(await stored()).toEqual([]);
  });

  it.each([
    ['claimedAt must be null', { claimedAt: '2026-11-20T07:30:00.000Z' }],
    ['revertedAt must be a time', { revertedAt: null }],
  ])('refuses a reversal where %s', async (message, wrong) => {
    await revert(partner, booking);
    const answer = await confirm(partner, { ...aReversal(booking), ...wrong });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toContain(message);
  });
});
