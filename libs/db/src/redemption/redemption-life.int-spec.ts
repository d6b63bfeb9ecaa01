import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  canonicalJson,
  confirmationPayload,
  type Delivery,
  type DeliveryEvent,
  deliveryTransition,
  type Redemption,
  type RedemptionEvent,
} from '#libs/domain';
import { aPartnerId, createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  type CallEnd,
  type Database,
  DeliveryStore,
  LeaseLostError,
  NonceStore,
  PartnerIdReusedError,
  RedemptionStore,
  RedemptionPages,
  RedemptionViews,
  StaleRedemptionError,
  type TransitionWrite,
} from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  expiryOf,
  planOf,
  someLimits,
  START_MS,
} from './testing/builders.js';

let test: TestDatabase;
let database: Database;
let store: RedemptionStore;
let views: RedemptionViews;
let deliveries: DeliveryStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  store = new RedemptionStore(database);
  views = new RedemptionViews(database);
  deliveries = new DeliveryStore(database);
});
afterAll(() => test.drop());

async function created(change: Partial<Redemption> = {}): Promise<Redemption> {
  const redemption = aNewRedemption(change);
  await store.create(redemption, aKey(), someLimits());
  return redemption;
}

async function after(
  redemption: Redemption,
  event: RedemptionEvent,
  change: Partial<TransitionWrite> = {},
): Promise<Redemption> {
  const write = decided(redemption, event, change);
  await store.apply(write);
  return write.decision.next;
}

function answered(redemption: Redemption): CallEnd {
  const requestId = redemption.openCall?.requestId ?? aUuid();
  return { requestId, outcome: 'answer', record: { status: 200 } };
}

async function authorised(transactionId = 'tx-1', first?: Redemption): Promise<Redemption> {
  const redemption = first ?? (await created());
  const deducting = await after(redemption, { type: 'call-due', requestId: aUuid() });
  const callEnd = answered(deducting);
  const { requestId } = callEnd;
  const deducted = await after(
    deducting,
    { type: 'deduct-confirmed', requestId, partnerTransactionId: transactionId },
    { callEnd },
  );
  return after(deducted, { type: 'plan-committed', plan: planOf(deducted) });
}

async function claimed(): Promise<Redemption> {
  const paying = await authorised();
  return after(paying, {
    type: 'payout-paid',
    redemptionId: paying.id,
    evidence: claimOf(paying),
  });
}

async function reverted(): Promise<Redemption> {
  const paying = await authorised();
  const evidence = expiryOf(paying);
  const dead = await after(paying, { type: 'payout-dead', redemptionId: paying.id, evidence });
  const calling = await after(dead, { type: 'call-due', requestId: aUuid(), neverPaid: evidence });
  const callEnd = answered(calling);
  const { requestId } = callEnd;
  return after(calling, { type: 'revert-already', requestId }, { callEnd });
}

describe('a redemption', () => {
  it.each([
    ['claimed', claimed, ['create', 'call-due', 'deduct-confirmed', 'plan-committed']],
    ['reverted', reverted, ['create', 'call-due', 'deduct-confirmed', 'plan-committed']],
  ])('that ends %s leaves its whole story and one confirmation', async (state, live, events) => {
    const redemption = await live();
    const history = await views.show(redemption.id);
    expect(history?.redemption).toEqual(redemption);
    expect(history?.lease).toBeNull();
    expect(history?.transitions.map(({ event }) => event).slice(0, 4)).toEqual(events);
    expect(history?.transitions.at(-1)).toMatchObject({ to: state, version: redemption.version });
    expect(history?.calls.every(({ end }) => end?.outcome === 'answer')).toBe(true);
    expect(history?.calls).toHaveLength(state === 'claimed' ? 1 : 2);
    expect(history?.confirmation).toMatchObject({
      state: 'pending',
      payload: canonicalJson(confirmationPayload(redemption)),
    });
  });

  it('that failed owes no confirmation', async () => {
    const failed = await after(await created(), { type: 'cancel', by: 'user' });
    expect((await views.show(failed.id))?.confirmation).toBeNull();
  });

  it("cannot take another one's transaction id", async () => {
    const partner = aPartnerId();
    await authorised('tx-9', await created({ partner }));
    const other = await created({ partner });
    const deducting = await after(other, { type: 'call-due', requestId: aUuid() });
    const { requestId } = answered(deducting);
    const event = { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-9' } as const;
    await expect(after(deducting, event)).rejects.toThrow(PartnerIdReusedError);
    expect((await store.get(other.id))?.redemption).toEqual(deducting);
    const held = await after(deducting, { type: 'deduct-id-reused', requestId });
    const { found } = await new RedemptionPages(database).longest({ state: 'attention' }, 10);
    expect(found.map(({ redemption }) => redemption)).toEqual([held]);
    const { states } = await views.counts();
    expect(states.find(({ state }) => state === 'attention')).toMatchObject({ count: 1 });
    const audit = { command: 'retry', arguments: { id: held.id }, outcome: 'done' };
    await after(held, { type: 'operator-retry' }, { actor: 'operator:anna', audit });
    await views.audit('operator:anna', { command: 'pause', outcome: 'refused' }, { partner });
    const rows = await database.pool.query('SELECT actor, command, partner FROM redemption.audit');
    expect(rows.rows).toEqual(
      ['retry', 'pause'].map((command) => ({ actor: 'operator:anna', command, partner })),
    );
  });

  it("cannot take another one's revert id either", async () => {
    const partner = aPartnerId();
    const [first, second] = await Promise.all(
      ['tx-1', 'tx-2'].map(async (id) => {
        const paying = await authorised(id, await created({ partner }));
        const evidence = expiryOf(paying);
        const event = { type: 'payout-dead', redemptionId: paying.id, evidence } as const;
        const dead = await after(paying, event);
        const requestId = aUuid();
        const calling = await after(dead, { type: 'call-due', requestId, neverPaid: evidence });
        const partnerRevertId = 'rev-1';
        return () =>
          after(calling, {
            type: 'revert-confirmed',
            requestId,
            partnerTransactionId: id,
            partnerRevertId,
          });
      }),
    );
    await first?.();
    await expect(second?.()).rejects.toMatchObject({ code: 'PARTNER_ID_REUSED', which: 'revert' });
  });

  it('has a plan only together with its vault', async () => {
    const redemption = await created();
    const deducting = await after(redemption, { type: 'call-due', requestId: aUuid() });
    const { requestId } = answered(deducting);
    const event = { type: 'deduct-confirmed', requestId, partnerTransactionId: 't' } as const;
    const deducted = await after(deducting, event);
    const plan = decided(deducted, { type: 'plan-committed', plan: planOf(deducted) });
    const { place, ...bare } = plan;
    expect(place).toBeDefined();
    await expect(store.apply(bare)).rejects.toMatchObject({ code: 'PLAN_WITHOUT_PLACE' });
  });

  it("keeps a lost call's end open, for an answer that comes too late to count", async () => {
    const deducting = await after(await created(), { type: 'call-due', requestId: aUuid() });
    const { requestId } = answered(deducting);
    const lost = { type: 'deduct-unknown', requestId, reason: 'crash' } as const;
    await after(deducting, lost, { requestId });
    expect((await views.show(deducting.id))?.calls).toMatchObject([{ requestId, end: null }]);
    expect(await store.endCall(answered(deducting))).toBe(true);
    expect(await store.endCall(answered(deducting))).toBe(false);
  });
});

describe('the log of a balance call', () => {
  it('is kept without a redemption', async () => {
    const requestId = aUuid();
    await store.beginBalanceCall(aPartnerId(), requestId);
    const end = { requestId, outcome: 'answer', record: {} };
    expect(await store.endCall(end)).toBe(true);
    const long = { ...end, requestId: aUuid(), record: { excerpt: 'x'.repeat(40_000) } };
    await store.beginBalanceCall(aPartnerId(), long.requestId);
    await expect(store.endCall(long)).rejects.toMatchObject({ sqlState: '23514' });
  });
});

describe('a confirmation', () => {
  function step(delivery: Delivery, event: DeliveryEvent, nowMs = START_MS): Delivery {
    const decision = deliveryTransition(delivery, event, { nowMs, jitter: 0 });
    if (decision.kind === 'refused') throw new Error(decision.code);
    return decision.next;
  }

  it('is leased, called, tried until it is undelivered, and replayed by command', async () => {
    await database.pool.query(
      `UPDATE redemption.confirmation SET leased_until = 'infinity', lease_owner = 'nobody'
       WHERE next_action_at IS NOT NULL`,
    );
    const { id: redemptionId } = await claimed();
    const due = { count: 5, leaseMs: 60_000 };
    const [leased] = await deliveries.lease({ ...due, owner: 'a' });
    if (leased === undefined) throw new Error('none was leased');
    expect(leased.redemptionId).toBe(redemptionId);
    expect(await deliveries.lease({ ...due, owner: 'b' })).toEqual([]);
    await deliveries.postpone(leased, 'b', START_MS);
    expect(await deliveries.get(redemptionId)).toEqual(leased);
    let before = leased.delivery;
    for (let attempt = 1; before.state === 'pending'; attempt += 1) {
      const requestId = aUuid();
      const calling = step(before, { type: 'call-due', requestId });
      const begin = { redemptionId, before, next: calling };
      await expect(deliveries.apply({ ...begin, owner: 'b' })).rejects.toThrow(LeaseLostError);
      await deliveries.apply({ ...begin, owner: 'a' });
      await expect(deliveries.apply({ ...begin, owner: 'a' })).rejects.toThrow(
        StaleRedemptionError,
      );
      const next = step(calling, { type: 'failed', requestId, reason: 'timeout' });
      const callEnd = { requestId, outcome: 'no-answer', record: { attempt } };
      await deliveries.apply({ redemptionId, before: calling, next, owner: 'a', callEnd });
      expect((await deliveries.get(redemptionId))?.delivery).toEqual(next);
      before = next;
    }
    expect(before).toMatchObject({ state: 'undelivered', attempts: 10 });
    expect(await deliveries.listUndelivered(5)).toMatchObject([{ redemptionId }]);
    expect(await views.counts()).toMatchObject({ confirmationsUndelivered: 1 });
    const history = await views.show(redemptionId);
    expect(history?.calls.filter((call) => call.step === 'confirm')).toHaveLength(10);
    expect(history?.redemption.state).toBe('claimed');
    const next = step(before, { type: 'replay' });
    const audit = { actor: 'operator:anna', command: 'replay-confirm' };
    await deliveries.apply({ redemptionId, before, next, audit });
    const again = await deliveries.lease({ ...due, owner: 'b' });
    expect(again).toMatchObject([{ redemptionId, delivery: next, payload: leased.payload }]);
  });
});

describe('a nonce', () => {
  it('is good once, before it expires', async () => {
    const nonces = new NonceStore(database);
    await nonces.issue('nonce-0001', START_MS);
    const uses = await Promise.all(
      Array.from({ length: 5 }, () => nonces.use('nonce-0001', START_MS - 1)),
    );
    expect(uses.filter(Boolean)).toHaveLength(1);
    await nonces.issue('nonce-0002', START_MS);
    expect(await nonces.use('nonce-0002', START_MS)).toBe(false);
    await nonces.issue('nonce-0003', START_MS);
    await nonces.forgetExpired(START_MS);
    expect(await nonces.use('nonce-0003', START_MS - 1)).toBe(false);
  });
});
