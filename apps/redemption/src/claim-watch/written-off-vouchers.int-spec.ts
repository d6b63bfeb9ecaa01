/**
 * Vouchers that a thief with a ledger credential marks as dead and then claims. The engine's spec tests that no points
 * go back.
 */
import { describe, expect, it } from '@jest/globals';
import { VaultBench } from '#libs/testing';
import { writeOff } from '../testing/write-off.support.js';
import {
  alerts,
  authorised,
  bench,
  clock,
  eachTest,
  isPaused,
  kinds,
  test,
} from './claim-watch.support.js';

eachTest();

describe.each(['redemption', 'cli'] as const)('the credential of %s', (program) => {
  it('writes a voucher off; its claim is told before it is final, and pauses the vault', async () => {
    await kinds();
    const { payout, payouts } = await authorised();
    const { redemptionId } = payout;
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await writeOff({ test, program, nowMs: clock.nowMs() }, redemptionId);
    await bench.mine(bench.to(VaultBench.STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual(['unpayable']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
  });
});
