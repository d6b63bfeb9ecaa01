import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryStore } from '#libs/db';
import {
  deliveryTransition,
  mintUuidV7,
  PARTNER_CAPABILITIES,
  type PartnerId,
  transition,
  type UuidV7,
} from '#libs/domain';
import { refusal } from '#libs/testing';
import { EngineBench, POINTS } from '../testing/engine-bench.support-spec.js';

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start();
});
afterAll(() => bench.stop());

function pointsOf({ wallet }: { wallet: string }) {
  return bench.partner.points.get(wallet);
}

function confirmationsOf(id: string) {
  return bench.partner.confirmations.filter((body) => body['svcRedemptionId'] === id);
}

/** Cancels as the user does. */
async function cancel(id: UuidV7): Promise<void> {
  const stored = await bench.store.get(id);
  if (stored === undefined) throw new Error('no such redemption');
  const before = stored.redemption;
  const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
  const context = { nowMs: bench.clock.nowMs(), jitter: 0, policy };
  const decision = transition(before, { type: 'cancel', by: 'user' }, context);
  if (decision.kind === 'refused') throw new Error(decision.message);
  await bench.store.apply({ before, decision, event: 'cancel', actor: 'user', stored });
}

async function eventsOf(id: UuidV7) {
  return (await bench.views.show(id))?.transitions.map(({ event, to }) => `${event} ${to}`);
}

describe('a redemption', () => {
  it('goes from points to tokens, and the partner is told once', async () => {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    expect(await bench.claim(id)).toBeUndefined();
    const redemption = await bench.until(id, 'claimed');
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.chain.tokens(redemption.wallet)).toBe(340n);
    expect(redemption.claimedAtMs).toBe(
      (redemption.paidEvidence?.block.timestampSeconds ?? 0) * 1000,
    );
    expect(confirmationsOf(id)).toEqual([
      expect.objectContaining({
        status: 'claimed',
        txnConfirmed: true,
        txnHash: redemption.paidEvidence?.transactionHash,
        deductPoints: POINTS,
      }),
    ]);
    expect(await eventsOf(id)).toEqual([
      'create created',
      'call-due deducting',
      'deduct-confirmed deducted',
      'plan-committed authorised',
      'payout-paid claimed',
    ]);
  });

  it('that nobody claims gets its points back, and no tokens move afterwards', async () => {
    const id = await bench.redeem();
    const redemption = await bench.until(id, 'reverted');
    expect(redemption.deadEvidence).toMatchObject({ outcome: 'dead', reason: 'expired' });
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(await bench.claim(id)).toBe('VoucherExpired');
    expect(confirmationsOf(id)).toEqual([
      expect.objectContaining({ status: 'reverted', txnConfirmed: false }),
    ]);
  });

  it('whose answer was lost is deducted once, by the id in the signed duplicate', async () => {
    bench.partner.next('deduct', 'lose-answer');
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    expect(bench.partner.deductions.get(id)).toMatchObject({ points: POINTS, reverted: false });
    expect(await eventsOf(id)).toEqual([
      'create created',
      'call-due deducting',
      'deduct-unknown deducting',
      'call-due deducting',
      'deduct-confirmed deducted',
      'plan-committed authorised',
    ]);
  });

  it('that is refused fails, and the partner hears no more of it', async () => {
    const id = await bench.redeem({}, POINTS - 1);
    const redemption = await bench.until(id, 'failed');
    expect(redemption.reason).toBe('insufficient-points');
    expect(pointsOf(redemption)).toBe(POINTS - 1);
    expect(confirmationsOf(id)).toEqual([]);
  });

  it('of a worker that died between the row and the call is settled before it is tried again', async () => {
    const id = await bench.redeem();
    const before = await bench.read(id);
    const [leased] = await bench.store.lease({
      count: 1,
      owner: 'dead',
      leaseMs: 50,
      dueByMs: bench.clock.nowMs(),
    });
    expect(leased?.redemption.id).toBe(id);
    const nowMs = bench.clock.nowMs();
    const event = { type: 'call-due', requestId: mintUuidV7(nowMs, Buffer.alloc(10, 9)) } as const;
    const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
    const decision = transition(before, event, { nowMs, jitter: 0, policy });
    if (decision.kind === 'refused') throw new Error(decision.message);
    await bench.store.apply({
      before,
      decision,
      event: event.type,
      actor: 'worker',
      owner: 'dead',
      ...(leased && { stored: leased }),
    });
    await sleep(60);
    const redemption = await bench.until(id, 'authorised');
    expect(redemption.attempts.deduct).toBe(2);
    expect((await eventsOf(id))?.slice(1, 4)).toEqual([
      'call-due deducting',
      'deduct-unknown deducting',
      'call-due deducting',
    ]);
    expect(bench.partner.calls.filter(({ body }) => body['svcRedemptionId'] === id)).toHaveLength(
      1,
    );
  });

  it('whose transaction id is another one’s stops and waits for a person', async () => {
    const first = await bench.redeem();
    const { partnerTransactionId } = await bench.until(first, 'authorised');
    bench.partner.next('deduct', () => ({ success: true, partnerTransactionId }));
    const id = await bench.redeem();
    const redemption = await bench.until(id, 'attention');
    expect([redemption.reason, redemption.plan]).toEqual(['transaction-id-reused', null]);
    expect(bench.logs.join('')).toContain('"alert":"transaction-id-reused","severity":"critical"');
  });

  it('whose revert comes back under another one’s revert id is tried again', async () => {
    const other = await bench.until(await bench.redeem(), 'reverted');
    bench.partner.next('revert', (body) => ({
      success: true,
      partnerTransactionId: body['partnerTransactionId'],
      partnerRevertId: other.partnerRevertId,
    }));
    const redemption = await bench.until(await bench.redeem(), 'reverted');
    expect(redemption.attempts.revert).toBe(2);
    expect(redemption.partnerRevertId).not.toBe(other.partnerRevertId);
    expect(pointsOf(redemption)).toBe(POINTS);
  });

  it('that its user cancels is cancelled on chain before the points go back', async () => {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    await cancel(id);
    const redemption = await bench.until(id, 'reverted');
    expect(redemption.deadEvidence).toMatchObject({ reason: 'cancelled' });
    expect(redemption.reason).toBe('user-cancelled');
    expect(pointsOf(redemption)).toBe(POINTS);
  });

  it('that is cancelled while its claim is being looked at is claimed all the same', async () => {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    expect(await bench.claim(id)).toBeUndefined();
    const observe = bench.payouts.observe.bind(bench.payouts);
    bench.payouts.observe = async (payouts) => {
      const evidence = await observe(payouts);
      const [wanted] = evidence.filter((_, at) => payouts[at]?.redemptionId === id);
      if (wanted?.outcome === 'paid') {
        bench.payouts.observe = observe;
        await cancel(id);
      }
      return evidence;
    };
    await bench.until(id, 'claimed');
    expect((await eventsOf(id))?.slice(-2)).toEqual(['cancel authorised', 'payout-paid claimed']);
  });

  it('of a partner that is not there any more ends with its quote where nothing was begun', async () => {
    const id = await bench.redeem({ partner: '00000000-0000-4000-8000-00000000dead' as PartnerId });
    const redemption = await bench.until(id, 'failed');
    expect(redemption.reason).toBe('quote-expired');
    expect(bench.logs.join('')).toContain('partner-not-callable');
  });
});

describe('a confirmation', () => {
  it('that is refused or lost is sent again, the same bytes, until it is taken', async () => {
    bench.partner.next('confirm', () => refusal('ERR-INTERNAL'), 'lose-answer', 'drop');
    const id = await bench.redeem();
    await bench.until(id, 'reverted');
    const deliveries = new DeliveryStore(bench.database);
    for (let turn = 0; turn < 20; turn++) {
      await bench.pass(900);
      await bench.engine.sweep();
    }
    expect((await deliveries.get(id))?.delivery).toMatchObject({ state: 'delivered', attempts: 4 });
    const sent = bench.partner.calls.filter(
      ({ path, body }) => path === '/confirm-redemption' && body['svcRedemptionId'] === id,
    );
    expect(new Set(sent.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('whose sender died during the call is sent again', async () => {
    bench.partner.next('confirm', 'drop');
    const id = await bench.redeem();
    await bench.until(id, 'reverted');
    const deliveries = new DeliveryStore(bench.database);
    const stored = await deliveries.get(id);
    if (stored === undefined) throw new Error('no confirmation');
    const nowMs = bench.clock.nowMs();
    const event = { type: 'call-due', requestId: mintUuidV7(nowMs, Buffer.alloc(10, 8)) } as const;
    const decision = deliveryTransition(stored.delivery, event, { nowMs, jitter: 0 });
    if (decision.kind === 'refused') throw new Error(decision.code);
    const { next } = decision;
    await deliveries.apply({ redemptionId: id, before: stored.delivery, next });
    for (let turn = 0; turn < 20; turn++) {
      await bench.pass(900);
      await bench.engine.sweep();
    }
    expect((await deliveries.get(id))?.delivery.state).toBe('delivered');
    expect(confirmationsOf(id)).toHaveLength(1);
  });

  it('whose lease another worker took during the call is not settled by the first one', async () => {
    const deliveries = new DeliveryStore(bench.database);
    const { behave } = bench.partner;
    const id = await bench.redeem();
    const leaseBy = (set: string) =>
      bench.database.query(
        { text: `UPDATE redemption.confirmation SET ${set} WHERE redemption_id = $1` },
        [id],
      );
    let taken: Promise<unknown> | undefined;
    bench.partner.behave = (call) => {
      if (call.path === '/confirm-redemption' && taken === undefined) {
        bench.partner.delayMs = 300;
        taken = leaseBy(`lease_owner = 'another worker'`);
      }
      return behave(call);
    };
    await bench.until(id, 'reverted');
    for (let turn = 0; taken === undefined && turn < 20; turn++) {
      await bench.pass(900);
      await bench.engine.sweep();
    }
    await taken;
    bench.partner.delayMs = 0;
    expect((await deliveries.get(id))?.delivery).toMatchObject({
      ...{ state: 'pending', attempts: 1, openRequestId: expect.any(String) },
    });
    // The other worker died.
    await leaseBy('leased_until = now()');
    for (let turn = 0; turn < 20; turn++) {
      await bench.pass(900);
      await bench.engine.sweep();
    }
    expect((await deliveries.get(id))?.delivery.state).toBe('delivered');
  });
});

describe('the engine', () => {
  it('tells what it does in its metrics', async () => {
    const text = await bench.registry.metrics();
    expect(text).toMatch(/lowmark_redemptions\{state="attention"\} 1/);
    expect(text).toMatch(/lowmark_redemption_work_failures_total\{queue="confirmations"\} 0/);
    expect(text).toMatch(/lowmark_redemption_transitions_total\{event="payout-paid"/);
    expect(text).toMatch(/lowmark_partner_call_seconds_count\{partner="The Game",step="deduct"/);
    expect(text).toMatch(
      /lowmark_alerts_total\{code="transaction-id-reused",severity="critical"\} 1/,
    );
  });

  it('writes nothing while a payout is open', async () => {
    const id = await bench.redeem();
    const { version } = await bench.until(id, 'authorised');
    for (let turn = 0; turn < 5; turn++) {
      await bench.pass(20);
      await bench.engine.sweep();
    }
    expect((await bench.read(id)).version).toBe(version);
  });
});
