import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LedgerRestoreStore, RedemptionStore } from '../index.js';
import { ReconciliationBench, TOKENS } from './reconciliation.support-spec.js';
import { START_MS } from './testing/builders.js';

let bench: ReconciliationBench;
let restores: LedgerRestoreStore;
let store: RedemptionStore;
beforeEach(async () => {
  bench = await ReconciliationBench.start();
  restores = new LedgerRestoreStore(bench.database);
  store = new RedemptionStore(bench.database);
});
afterEach(() => bench.stop());

function record(atMs: number, voucherSeconds = 1800) {
  return restores.record({
    atMs,
    lostSinceMs: atMs - 60_000,
    vouchersUntilSeconds: atMs / 1000 + voucherSeconds,
    actor: 'operator:ann',
    command: 'ledger restored',
    arguments: { since: 'x' },
  });
}

it('is known to every redemption that is older, however it is read', async () => {
  const redemption = await bench.created();
  expect((await store.get(redemption.id))?.redemption).toEqual(redemption);
  await record(START_MS);
  expect((await store.get(redemption.id))?.redemption.lostVoucherUntilSeconds).toBeNull();
  await record(START_MS + 1000, 3600);
  await record(START_MS + 2000, 60);
  const known = { ...redemption, lostVoucherUntilSeconds: START_MS / 1000 + 3601 };
  expect((await store.get(redemption.id))?.redemption).toEqual(known);
  expect(await store.find(redemption.wallet, redemption.id)).toMatchObject({ redemption: known });
  expect(await store.list(redemption.wallet, 5)).toMatchObject([{ redemption: known }]);
  const leased = await store.lease({ count: 1, owner: 'w', leaseMs: 1000, dueByMs: START_MS });
  expect(leased).toMatchObject([{ redemption: known }]);
});

it('is listed, audited, and never taken back', async () => {
  await record(START_MS + 1000);
  expect(await restores.list()).toEqual([
    {
      atMs: START_MS + 1000,
      lostSinceMs: START_MS - 59_000,
      vouchersUntilSeconds: START_MS / 1000 + 1801,
    },
  ]);
  const audit = { text: 'SELECT actor, command, arguments, outcome FROM redemption.audit' };
  expect(await bench.database.query(audit)).toEqual([
    {
      actor: 'operator:ann',
      command: 'ledger restored',
      arguments: { since: 'x' },
      outcome: 'noted',
    },
  ]);
  const gone = { text: 'DELETE FROM redemption.ledger_restore' };
  await expect(bench.database.query(gone)).rejects.toThrow('never changed or removed');
});

it('says what it concerns', async () => {
  await bench.created();
  await bench.deducted();
  await bench.authorised();
  await bench.claimed();
  expect(await restores.unplanned(START_MS + 1)).toEqual({ created: 1, deducted: 1 });
  expect(await restores.unplanned(START_MS)).toEqual({});
});

it('counts what open redemptions may still be paid', async () => {
  expect(await store.promisedTokens()).toBe(0n);
  await bench.created();
  await bench.deducted();
  await bench.authorised();
  await bench.claimed();
  await bench.reverted();
  await bench.after(await bench.deducted(), { type: 'cancel', by: 'user' });
  expect(await store.promisedTokens()).toBe(3n * TOKENS);
});
