/** Vouchers that a thief of a credential of the ledger writes off as dead, with every trigger in force, and then claims. */
import { describe, expect, it } from '@jest/globals';
import { RedemptionStore } from '#libs/db';
import {
  type BlockHash,
  type DeadEvidence,
  payoutEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { VaultBench } from '#libs/testing';
import {
  alerts,
  authorised,
  bench,
  clock,
  database,
  eachTest,
  isPaused,
  kinds,
  test,
} from './claim-watch.support-spec.js';

eachTest();

/** By evidence that no block bears out: all that the thief has is the database. */
async function writeOff(program: 'redemption' | 'cli', id: UuidV7): Promise<void> {
  const before = (await new RedemptionStore(database).get(id))?.redemption;
  if (before?.plan == null) throw new Error('no plan');
  const timestampSeconds = before.plan.deadlineSeconds + 1;
  const evidence: DeadEvidence = {
    outcome: 'dead',
    reason: 'expired',
    finalised: { number: 1n, hash: `0x${'ab'.repeat(32)}` as BlockHash, timestampSeconds },
  };
  const event = payoutEvent(id, evidence, 0);
  const policy = { capabilities: [], confirms: true };
  const decision = transition(before, event, { nowMs: clock.nowMs(), jitter: 0, policy });
  if (decision.kind === 'refused') throw new Error(decision.message);
  const intruder = new RedemptionStore(await test.open({ url: test.urlAs(program) }));
  await intruder.apply({ before, decision, event: event.type, actor: 'worker' });
}

describe.each(['redemption', 'cli'] as const)('the credential of %s', (program) => {
  it('writes a voucher off; its claim is told before it is final, and pauses the vault', async () => {
    await kinds();
    const { payout, payouts } = await authorised();
    const { redemptionId } = payout;
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await writeOff(program, redemptionId);
    await bench.mine(bench.to(VaultBench.STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual(['unpayable']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
  });
});
