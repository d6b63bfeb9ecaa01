/** Redemptions after an older ledger was restored, on a real vault: points or tokens are given away, and never both. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  PARTNER_CAPABILITIES,
  type Redemption,
  type RedemptionEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { OldLedger } from '../testing/old-ledger.support.js';

const TTL_SECONDS = 600;
const TOKENS = 340n;

let bench: EngineBench;
let ledger: OldLedger;
beforeAll(async () => {
  bench = await EngineBench.start();
  ledger = await OldLedger.keep(bench.database);
});
afterAll(() => bench.stop());

async function holdingsOf({ wallet }: Redemption) {
  return [bench.partner.points.get(wallet), await bench.chain.tokens(wallet)];
}

/** An authorised redemption, and the voucher that its user has. */
async function authorised() {
  await bench.pass(1);
  const id = await bench.authorised();
  return { id, calldata: await bench.voucher(id) };
}

function revertsOf(id: UuidV7) {
  const { calls } = bench.partner;
  return calls.filter(
    (one) => one.path.startsWith('/revert') && one.body['svcRedemptionId'] === id,
  );
}

async function note(): Promise<void> {
  await ledger.note(bench.clock.nowMs() + 1, TTL_SECONDS);
}

/** Restarts the service with other settings, also for the tests that follow. */
async function restart(change: Parameters<EngineBench['restarted']>[0]): Promise<void> {
  bench = await bench.restarted(change);
}

describe('a ledger that is noted as restored', () => {
  it('takes a lost voucher that was claimed for claimed', async () => {
    const { id, calldata } = await authorised();
    expect(await bench.send(calldata)).toBeUndefined();
    await bench.until(id, 'claimed');
    await ledger.restore(id, 'deducted');
    await note();
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect(redemption.paidEvidence).toMatchObject({ amount: TOKENS, recipient: redemption.wallet });
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
    expect(revertsOf(id)).toEqual([]);
  });

  it('gives the points back once no lost voucher can be claimed', async () => {
    const { id, calldata } = await authorised();
    await ledger.restore(id, 'deducting');
    await note();
    const redemption = await bench.until(id, 'reverted');
    expect(await bench.send(calldata)).toBe('VoucherExpired');
    expect(await holdingsOf(redemption)).toEqual([POINTS, 0n]);
  });

  it('asks a person for the deduction of a claim, and takes it for claimed then', async () => {
    const { id, calldata } = await authorised();
    expect(await bench.send(calldata)).toBeUndefined();
    const { partnerTransactionId } = await bench.until(id, 'claimed');
    await ledger.restore(id, 'created');
    await note();
    const held = await bench.until(id, 'attention', 'reverted', 'failed');
    expect(held.reason).toBe('claimed-without-plan');
    for (const type of ['operator-restored', 'operator-not-deducted'] as const) {
      await expect(bench.happen(id, { type })).rejects.toThrow('The tokens may still be claimed');
    }
    await bench.happen(id, {
      type: 'operator-set-transaction',
      partnerTransactionId: partnerTransactionId ?? '',
    });
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
    expect(revertsOf(id)).toEqual([]);
  });
});

describe('a restore that a service cannot notice, because it has forgotten what it saw', () => {
  it('pays once, by the evidence of the claim of before', async () => {
    const { id, calldata } = await authorised();
    expect(await bench.send(calldata)).toBeUndefined();
    const { paidEvidence } = await bench.until(id, 'claimed');
    await ledger.restore(id, 'deducted');
    await restart({});
    await bench.pass(100);
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect(redemption.paidEvidence?.transactionHash).toBe(paidEvidence?.transactionHash);
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
  });

  it('gives back no points whose tokens were claimed, and is told what to do', async () => {
    const { id, calldata } = await authorised();
    expect(await bench.send(calldata)).toBeUndefined();
    await bench.until(id, 'claimed');
    await ledger.restore(id, 'deducted');
    await restart({});
    await bench.cancel(id);
    const held = await bench.until(id, 'attention', 'reverted');
    expect([held.state, held.reason]).toEqual(['attention', 'claimed-without-plan']);
    expect(bench.logs.join('')).toContain('"alert":"claimed-without-plan","severity":"critical"');
    expect(revertsOf(id)).toEqual([]);
    await note();
    await bench.happen(id, { type: 'operator-retry' });
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
  });
});

describe('a vault that was replaced meanwhile', () => {
  it('is waited for while it may pay one', async () => {
    // The ledger has named the vault since the first plan on it, also where it has forgotten all of its plans.
    const old = bench.chain;
    const { id, calldata } = await authorised();
    await restart({ isNewVault: true });
    await ledger.restore(id, 'deducted');
    await note();
    await bench.engine.sweep();
    await bench.pass(60);
    await bench.engine.sweep();
    expect((await bench.read(id)).state).toBe('reverting');
    expect(await bench.send(calldata, old)).toBeUndefined();
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect((await bench.stored(id)).place?.vault).toBe(old.vault);
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
  });
});

describe('a restore that is noted only when something was planned again', () => {
  // With vouchers of the usual life.
  beforeEach(() => restart({}));

  it('waits for the lost voucher, which is good for longer than the plan', async () => {
    const { id, calldata } = await authorised();
    const lostSinceMs = bench.clock.nowMs() + 1000;
    await ledger.restore(id, 'deducted');
    await bench.pass(1);
    await restart({ ttlSeconds: 10 });
    await bench.until(id, 'authorised');
    await ledger.note(bench.clock.nowMs() + 1, TTL_SECONDS, lostSinceMs);
    for (let turn = 0; turn < 20; turn++) {
      await bench.engine.sweep();
      await bench.pass(20);
    }
    expect((await bench.read(id)).state).toBe('authorised');
    expect(await bench.send(calldata)).toBeUndefined();
    const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
    expect(redemption.state).toBe('claimed');
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
    expect(revertsOf(id)).toEqual([]);
  });

  it('asks again before points go back whose plan had ended by then', async () => {
    const { id, calldata } = await authorised();
    const lostSinceMs = bench.clock.nowMs() + 1000;
    await ledger.restore(id, 'deducted');
    await bench.pass(1);
    await restart({ ttlSeconds: 10 });
    await bench.until(id, 'authorised');
    bench.partner.next('revert', 'drop');
    await bench.until(id, 'reverting');
    await ledger.note(bench.clock.nowMs() + 1, TTL_SECONDS, lostSinceMs);
    expect(await bench.send(calldata)).toBeUndefined();
    const redemption = await bench.until(id, 'attention', 'reverted');
    expect([redemption.state, redemption.reason]).toEqual(['attention', 'paid-after-dead']);
    expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
  });
});

describe('a worker that is at it while the restore is noted', () => {
  it('plans nothing of what it has read before', async () => {
    const { id } = await authorised();
    await ledger.restore(id, 'deducted');
    const [stored] = await bench.store.lease({
      count: 1,
      owner: 'w',
      leaseMs: 1000,
      dueByMs: bench.clock.nowMs(),
    });
    expect(stored?.redemption.id).toBe(id);
    await note();
    const event = { type: 'plan-committed', ...(await bench.payouts.plan(await bench.read(id))) };
    const before = stored?.redemption ?? (await bench.read(id));
    const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
    const context = { nowMs: bench.clock.nowMs(), jitter: 0, policy };
    const decision = transition(before, event as RedemptionEvent, context);
    if (decision.kind === 'refused') throw new Error(decision.message);
    const write = { before, decision, event: event.type, actor: 'worker', owner: 'w' };
    await expect(bench.store.apply({ ...write, place: event.place })).rejects.toMatchObject({
      code: 'REDEMPTION_STALE',
    });
    await bench.store.release(id, 'w');
    const redemption = await bench.until(id, 'reverted', 'authorised', 'claimed');
    expect([redemption.state, redemption.plan]).toEqual(['reverted', null]);
    expect(await holdingsOf(redemption)).toEqual([POINTS, 0n]);
  });
});
