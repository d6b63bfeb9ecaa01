/**
 * Vouchers that a thief with a ledger credential marks as dead or as claimed, with every trigger in force: points and
 * tokens are never both given away.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, ReconciliationStore } from '#libs/db';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { VaultBench } from '#libs/testing/vault';
import { type Alert } from '../observe/alerts.js';
import { aReconciler } from '../testing/cancel-policy.support.js';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { callClaimed, writeOff } from '../testing/write-off.support.js';

const TOKENS = 340n;

describe.each(['redemption', 'cli'] as const)('with the credential of %s, a voucher', (program) => {
  let bench: EngineBench;
  let served: Database;
  beforeAll(async () => {
    bench = await EngineBench.start();
    served = await bench.test.open({ url: bench.test.urlAs('redemption') });
  });
  afterAll(() => bench.stop());

  const thief = () => ({ test: bench.test, program, nowMs: bench.clock.nowMs() });

  async function reconciled(alerts: Alert[] = []) {
    const reconciler = aReconciler(bench.chain, bench.clock, {
      store: new ReconciliationStore(served),
      raise: (alert) => alerts.push(alert),
    });
    const found = (await reconciler.reconcile()) ?? [];
    return found.map(({ kind, count, tokens }) => ({ kind, count, tokens }));
  }

  it('is called claimed: its points are kept from its player, and the reconciliation finds it', async () => {
    const [called, other] = [await bench.authorised(), await bench.authorised()];
    const calldata = await bench.voucher(called);
    const held = await bench.chain.tokens(bench.chain.vault);
    await callClaimed(thief(), called);
    const alerts: Alert[] = [];
    expect(await reconciled(alerts)).toEqual([
      { kind: 'row-without-claim', count: 1, tokens: TOKENS },
    ]);
    expect(alerts).toMatchObject([{ severity: 'critical' }]);

    const { wallet: another } = await bench.until(other, 'reverted');
    expect(bench.partner.points.get(another)).toBe(POINTS);
    const { wallet, state } = await bench.read(called);
    expect(state).toBe('claimed');
    expect(bench.partner.points.get(wallet)).toBe(0);
    expect(await bench.chain.tokens(bench.chain.vault)).toBe(held);
    const late = bench.chain.to(VaultBench.STRANGER, calldata);
    expect(await bench.chain.refusal(late)).toBe('VoucherExpired');
  });

  it('is called claimed: a player who has it already is paid all the same, and then the books agree', async () => {
    const before = await reconciled();
    const id = await bench.authorised();
    const { wallet } = await bench.read(id);
    const calldata = await bench.voucher(id);
    await callClaimed(thief(), id);
    await bench.pass(12);
    expect(
      await bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata)),
    ).toBeUndefined();
    await bench.chain.finalise();
    bench.clock.set(bench.chain.seconds * 1000);
    expect(await bench.chain.tokens(wallet)).toBe(TOKENS);
    expect(await reconciled()).toEqual(before);
  });

  const pointsOf = ({ wallet }: Redemption) => bench.partner.points.get(wallet);

  async function writtenOff(): Promise<UuidV7> {
    const id = await bench.authorised();
    await writeOff(thief(), id);
    expect((await bench.read(id)).state).toBe('reverting');
    return id;
  }

  it('is written off in the ledger: no points come back while it can be claimed', async () => {
    const id = await writtenOff();
    for (let look = 0; look < 10; look++) {
      await bench.engine.sweep();
      await bench.pass(20);
    }
    const redemption = await bench.read(id);
    expect(redemption).toMatchObject({ state: 'reverting', attempts: { revert: 0 } });
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.claim(id)).toBeUndefined();
    const { reason } = await bench.until(id, 'attention');
    expect(reason).toBe('paid-after-dead');
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.chain.tokens(redemption.wallet)).toBe(340n);
  });

  it('is written off in the ledger: its points come back once, when the vault says so too', async () => {
    const id = await writtenOff();
    const redemption = await bench.until(id, 'reverted');
    expect(bench.clock.nowMs()).toBeGreaterThan((redemption.plan?.deadlineSeconds ?? 0) * 1000);
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(await bench.claim(id)).toBe('VoucherExpired');
  });
});
