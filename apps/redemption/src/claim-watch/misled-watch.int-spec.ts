/**
 * What an intruder with the service's database credential, and the stolen key of the signer, can do to the claim watch,
 * whose own tables that credential can write. The intruder can suppress the alert and the pause for a theft, or cause a
 * pause without a theft. The theft stays within the cap, and the reconciliation finds it. A voucher that the intruder
 * marks as dead and then claims is told.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { vaultIdOf } from '#libs/chain';
import { type Database, ReconciliationStore } from '#libs/db';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { aReconciler } from '../testing/cancel-policy.support.js';
import { writeOff } from '../testing/write-off.support.js';
import {
  alerts,
  authorised,
  bench,
  clock,
  database,
  eachTest,
  isPaused,
  kinds,
  steal,
  test,
  THIEF,
} from './claim-watch.support.js';

const CAP = 10n ** 24n;

eachTest();

let intruder: Database;
beforeEach(async () => {
  intruder = await test.open({ url: test.urlAs('redemption') });
  // The watch has its cursors now.
  await kinds();
});

const bytes = (hex: string) => Buffer.from(hex.replace('0x', ''), 'hex');

/** Writes a forged alarm about a claim of this id in this transaction. */
async function writeAlarm(vaultId: string, transaction: string, isPaused: boolean): Promise<void> {
  await intruder.query(
    {
      text: `INSERT INTO redemption.claim_alarm (chain_id, vault, vault_id, transaction_hash, block_number, block_at,
          recipient, amount, kind, may_be_lost, found_at, paused_at)
        VALUES ($1, $2, $3, $4, 1, now(), $5, 1, 'without-row', false, now(), $6)`,
    },
    [
      bench.place.chainId,
      bytes(bench.vault),
      bytes(vaultId),
      bytes(transaction),
      bytes(THIEF),
      isPaused ? new Date(clock.nowMs()) : null,
    ],
  );
}

async function reconciled() {
  await bench.finalise();
  const reconciler = aReconciler(bench, clock, {
    store: new ReconciliationStore(database),
    raise: (alert) => alerts.push(alert),
  });
  const found = (await reconciler.reconcile()) ?? [];
  return found.map(({ kind, tokens }) => ({ kind, tokens }));
}

describe('the credential of the redemption service', () => {
  it('hides no theft by a cursor that is far ahead: what is not final yet is read at each look', async () => {
    await intruder.query({ text: 'UPDATE redemption.claim_watch SET next_block = 1000000000' });
    await steal();
    expect(await kinds()).toEqual(['without-row']);
    await bench.mine();
    expect(await isPaused()).toBe(true);
  });

  it('hides a theft by an alarm that is there already: up to the cap, until the reconciliation', async () => {
    const voucher = bench.voucher({ recipient: THIEF, amount: CAP });
    const [outcome] = await bench.mine(await bench.claim(voucher));
    await writeAlarm(voucher.vaultId, outcome?.transactionHash ?? '', true);
    expect(await kinds()).toEqual([]);
    await bench.mine();
    expect([alerts, await isPaused()]).toEqual([[], false]);
    expect(await bench.refusal(bench.claim(bench.voucher({ amount: 1n })))).toBe(
      'WindowCapExceeded',
    );
    expect(await bench.tokens(THIEF)).toBe(CAP);
    expect(await reconciled()).toEqual([{ kind: 'claim-without-row', tokens: CAP }]);
    expect(alerts).toMatchObject([{ severity: 'critical' }]);
  });

  it('has the vault paused for nothing by an alarm that is made up: no token moves', async () => {
    const held = await bench.tokens(bench.vault);
    const id = vaultIdOf('0199d000-0000-7000-8000-00000000dead');
    await writeAlarm(id, `0x${'ab'.repeat(32)}`, false);
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.tokens(bench.vault)).toBe(held);
    expect(await bench.tokens(aWallet(0xdead))).toBe(0n);
  });
});

// The engine's spec tests that no points go back.
describe.each(['redemption', 'cli'] as const)('the credential of %s', (program) => {
  it('marks a voucher as dead: its claim is told before it is final, and pauses the vault', async () => {
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
