/**
 * A partner that is down, or that named a wrong transaction, while points wait to go back: real sockets, a real chain.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryStore } from '#libs/db';
import { PARTNER_CAPABILITIES, type UuidV7 } from '#libs/domain';
import { refusal } from '#libs/testing/partner';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { Gate } from '../testing/gate.support.js';

let bench: EngineBench;
let gate: Gate;
beforeAll(async () => {
  bench = await EngineBench.start();
  gate = await Gate.closed();
});
afterAll(async () => {
  gate.close();
  await bench.stop();
});

const revertsOf = async (id: UuidV7) =>
  (await bench.views.show(id))?.calls.filter(({ step }) => step === 'revert') ?? [];

describe('a partner that is down', () => {
  it('for an hour is asked for all that never left when its circuit closes', async () => {
    const ids = [await bench.redeem(), await bench.redeem(), await bench.redeem()];
    for (const id of ids) await bench.until(id, 'authorised');
    const closed = await Gate.closed();
    await bench.setCallback(PARTNER_CAPABILITIES, closed.url);
    for (const id of ids) await bench.until(id, 'reverting');
    for (let minutes = 0; minutes < 60; minutes++) {
      await bench.engine.sweep();
      await bench.pass(60);
    }
    // The backoff of each redemption alone would be some minutes.
    await closed.open(bench.partner.url);
    const [first, ...others] = await Promise.all(ids.map((id) => bench.read(id)));
    if (first === undefined) throw new Error('none');
    const soonest = Math.min(
      ...[first, ...others].map(({ nextActionAtMs }) => nextActionAtMs ?? 0),
    );
    bench.clock.set(Math.max(soonest, bench.clock.nowMs()));
    const backAtMs = bench.clock.nowMs();
    for (const id of ids) await untilReverted(id);
    expect(bench.clock.nowMs() - backAtMs).toBeLessThanOrEqual(20_000);
    expect(bench.logs.filter((line) => line.includes('could not be brought forward'))).toEqual([]);
    closed.close();
  });

  it('for two minutes is asked within seconds of its return; no attempt that never left counts', async () => {
    await bench.setCallback(PARTNER_CAPABILITIES);
    const ids = [await bench.redeem(), await bench.redeem(), await bench.redeem()];
    for (const id of ids) await bench.until(id, 'authorised');
    await bench.setCallback(PARTNER_CAPABILITIES, gate.url);
    for (const id of ids) await bench.until(id, 'reverting');
    for (let seconds = 0; seconds < 120; seconds += 5) {
      await bench.engine.sweep();
      await bench.pass(5);
    }
    const waiting = await Promise.all(ids.map((id) => bench.read(id)));
    expect(waiting.map(({ state, attempts }) => [state, attempts.revert])).toEqual(
      ids.map(() => ['reverting', 0]),
    );
    // Calls that the circuit would hold back are not begun, except those that are due together with its probe.
    const made = (await Promise.all(ids.map(revertsOf))).flat();
    expect(made.length).toBeLessThan(24);

    await gate.open(bench.partner.url);
    const backAtMs = bench.clock.nowMs();
    for (const id of ids) await untilReverted(id);
    expect(bench.clock.nowMs() - backAtMs).toBeLessThanOrEqual(60_000);
    const ended = await Promise.all(ids.map((id) => bench.read(id)));
    for (const { wallet } of ended) expect(bench.partner.points.get(wallet)).toBe(POINTS);
  });

  /** Sweeps once a second. */
  async function untilReverted(id: UuidV7): Promise<void> {
    for (let turn = 0; turn < 120; turn++) {
      await bench.engine.sweep();
      if ((await bench.read(id)).state === 'reverted') return;
      await bench.pass(1);
    }
    throw new Error(`still ${(await bench.read(id)).state}`);
  }
});

describe('confirmations to a partner that is down', () => {
  it('are no attempts while nothing leaves, and go when its circuit closes', async () => {
    const deliveries = new DeliveryStore(bench.database);
    await bench.setCallback(PARTNER_CAPABILITIES);
    const ids = [await bench.redeem(), await bench.redeem(), await bench.redeem()];
    for (const id of ids) await bench.until(id, 'authorised');
    const closed = await Gate.closed();
    await bench.setCallback(PARTNER_CAPABILITIES, closed.url);
    for (const id of ids) await bench.claim(id);
    for (const id of ids) await bench.until(id, 'claimed');
    for (let minutes = 0; minutes < 60; minutes++) {
      await bench.engine.sweep();
      await bench.pass(60);
    }
    const waiting = await Promise.all(ids.map((id) => deliveries.get(id)));
    expect(waiting.map((stored) => stored?.delivery)).toMatchObject(
      ids.map(() => ({ state: 'pending', attempts: 0 })),
    );
    // Calls that the circuit would hold back are not begun.
    const shown = await Promise.all(ids.map((id) => bench.views.show(id)));
    const calls = shown.flatMap((one) => one?.calls ?? []).filter(({ step }) => step === 'confirm');
    expect(calls.length).toBeLessThan(120);

    await closed.open(bench.partner.url);
    const due = waiting.map((stored) => stored?.delivery.nextActionAtMs ?? 0);
    bench.clock.set(Math.max(Math.min(...due), bench.clock.nowMs()));
    const backAtMs = bench.clock.nowMs();
    for (const id of ids) await untilConfirmed(id);
    expect(bench.clock.nowMs() - backAtMs).toBeLessThanOrEqual(20_000);
    const ended = await Promise.all(ids.map((id) => deliveries.get(id)));
    expect(ended.map((stored) => stored?.delivery.attempts)).toEqual([1, 1, 1]);
    expect(bench.logs.filter((line) => line.includes('could not be brought forward'))).toEqual([]);
    closed.close();

    async function untilConfirmed(id: UuidV7): Promise<void> {
      for (let turn = 0; turn < 120; turn++) {
        await bench.engine.sweep();
        if ((await deliveries.get(id))?.delivery.state === 'delivered') return;
        await bench.pass(1);
      }
      throw new Error('still not confirmed');
    }
  });
});

describe('a partner that named the transaction of another redemption', () => {
  it('gives the points back by the redemption id alone', async () => {
    await bench.setCallback(PARTNER_CAPABILITIES);
    const id = await bench.redeem();
    bench.partner.next('deduct', (body) => {
      bench.partner.take(body);
      return { success: true, partnerTransactionId: `ptx_of_another_${id}` };
    });
    const { behave } = bench.partner;
    bench.partner.behave = (call) => {
      const named = call.body['partnerTransactionId'];
      const isPair =
        named === undefined || named === bench.partner.deductions.get(id)?.transactionId;
      return call.path === '/revert-deduct-points' && !isPair
        ? { body: refusal('ERR-TRANSACTION-NOT-FOUND') }
        : behave(call);
    };
    const redemption = await bench.until(id, 'reverted');
    expect(bench.partner.points.get(redemption.wallet)).toBe(POINTS);
    const asked = bench.partner.calls
      .filter(
        ({ path, body }) => path === '/revert-deduct-points' && body['svcRedemptionId'] === id,
      )
      .map(({ body }) => body['partnerTransactionId'] ?? 'by redemption id');
    expect(asked).toEqual([`ptx_of_another_${id}`, 'by redemption id']);
  });
});
