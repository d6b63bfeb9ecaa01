/**
 * Vouchers that a thief with a ledger credential marks as claimed: their players lose the points, and no token moves.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RpcPool } from '#libs/chain';
import { type Database, ReconciliationStore } from '#libs/db';
import { createLogger } from '#libs/service';
import { VaultBench } from '#libs/testing';
import { type Alert } from '../observe/alerts.js';
import { Reconciler } from '../reconciliation/reconciler.js';
import { alertsTo, someSettings } from '../testing/cancel-policy.support.js';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { callClaimed } from '../testing/write-off.support.js';

const TOKENS = 340n;

describe.each(['redemption', 'cli'] as const)('with the credential of %s, a voucher', (program) => {
  let bench: EngineBench;
  let served: Database;
  beforeAll(async () => {
    bench = await EngineBench.start();
    served = await bench.test.open({ url: bench.test.urlAs('redemption') });
  });
  afterAll(() => bench.stop());

  async function reconciled(alerts: Alert[] = []) {
    const { chain, clock } = bench;
    const reconciler = new Reconciler(
      someSettings({
        chainId: chain.place.chainId,
        vaultContract: chain.place.vault,
        tokenContract: chain.chain.contracts.token,
        finality: 'finalized',
        vaultStartBlock: 0n,
      }),
      new RpcPool({ urls: [chain.chain.url], clock }),
      new ReconciliationStore(served),
      alertsTo((alert) => alerts.push(alert)),
      clock,
      createLogger({ app: 'test', level: 'silent' }),
    );
    const found = (await reconciler.reconcile()) ?? [];
    return found.map(({ kind, count, tokens }) => ({ kind, count, tokens }));
  }

  it('is called claimed: its points are kept from its player, and the reconciliation finds it', async () => {
    const [called, other] = [await bench.redeem(), await bench.redeem()];
    await bench.until(called, 'authorised');
    await bench.until(other, 'authorised');
    const calldata = await bench.voucher(called);
    const held = await bench.chain.tokens(bench.chain.vault);
    await callClaimed({ test: bench.test, program, nowMs: bench.clock.nowMs() }, called);
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
    const id = await bench.redeem();
    const { wallet } = await bench.until(id, 'authorised');
    const calldata = await bench.voucher(id);
    await callClaimed({ test: bench.test, program, nowMs: bench.clock.nowMs() }, id);
    await bench.pass(12);
    expect(
      await bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata)),
    ).toBeUndefined();
    await bench.chain.finalise();
    bench.clock.set(bench.chain.seconds * 1000);
    expect(await bench.chain.tokens(wallet)).toBe(TOKENS);
    expect(await reconciled()).toEqual(before);
  });
});
