/**
 * The story of a redemption that operators see. What the stores write is in
 * test/simulation/engine/ledger/ledger-contract.int-spec.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  canonicalJson,
  confirmationPayload,
  type DeliveryEvent,
  deliveryTransition,
} from '#libs/domain';
import { aPartnerId } from '#libs/testing/partner';
import {
  DeliveryStore,
  NonceStore,
  PartnerIdReusedError,
  type RedemptionStore,
  RedemptionPages,
  RedemptionViews,
} from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { aUuid, START_MS } from './testing/builders.js';

let bench: LedgerBench;
let store: RedemptionStore;
let views: RedemptionViews;
beforeAll(async () => {
  bench = await LedgerBench.start();
  store = bench.redemptions;
  views = new RedemptionViews(bench.database);
});
afterAll(() => bench.stop());

describe('a redemption', () => {
  it.each(['claimed', 'reverted'] as const)(
    'that ends %s leaves its whole story and one confirmation',
    async (state) => {
      const redemption = await bench[state]();
      const history = await views.show(redemption.id);
      expect(history?.redemption).toEqual(redemption);
      expect(history?.lease).toBeNull();
      const events = history?.transitions.map(({ event }) => event).slice(0, 4);
      expect(events).toEqual(['create', 'call-due', 'deduct-confirmed', 'plan-committed']);
      expect(history?.transitions.at(-1)).toMatchObject({ to: state, version: redemption.version });
      expect(history?.calls.every(({ end }) => end?.outcome === 'answer')).toBe(true);
      expect(history?.calls).toHaveLength(state === 'claimed' ? 1 : 2);
      expect(history?.confirmation).toMatchObject({
        state: 'pending',
        payload: canonicalJson(confirmationPayload(redemption)),
      });
    },
  );

  it('that failed owes no confirmation', async () => {
    const failed = await bench.cancelled(await bench.created());
    expect((await views.show(failed.id))?.confirmation).toBeNull();
  });

  it("that takes another one's transaction id waits for an operator, whose command is audited", async () => {
    const partner = aPartnerId();
    const { partnerTransactionId } = await bench.deducted({ partner });
    const { calling, callEnd } = await bench.called(await bench.created({ partner }));
    const { requestId } = callEnd;
    const taken = { requestId, partnerTransactionId: partnerTransactionId ?? '' };
    await expect(bench.after(calling, { type: 'deduct-confirmed', ...taken })).rejects.toThrow(
      PartnerIdReusedError,
    );
    expect((await store.get(calling.id))?.redemption).toEqual(calling);
    const held = await bench.after(calling, { type: 'deduct-id-reused', requestId });
    const pages = new RedemptionPages(bench.database);
    const { found } = await pages.longest({ state: 'attention' }, 10);
    expect(found.map(({ redemption }) => redemption)).toEqual([held]);
    const { states } = await views.counts();
    expect(states.find(({ state }) => state === 'attention')).toMatchObject({ count: 1 });
    const audit = { command: 'retry', arguments: { id: held.id }, outcome: 'done' };
    await bench.after(held, { type: 'operator-retry' }, { actor: 'operator:anna', audit });
    await views.audit('operator:anna', { command: 'pause', outcome: 'refused' }, { partner });
    const text = 'SELECT actor, command, partner FROM redemption.audit';
    expect(await bench.database.query({ text })).toEqual(
      ['retry', 'pause'].map((command) => ({ actor: 'operator:anna', command, partner })),
    );
  });

  it("keeps a lost call's end open, for an answer that comes too late to count", async () => {
    const { calling, callEnd } = await bench.called(await bench.created());
    const { requestId } = callEnd;
    const lost = { type: 'deduct-unknown', requestId, reason: 'crash' } as const;
    await bench.after(calling, lost, { requestId });
    expect((await views.show(calling.id))?.calls).toMatchObject([{ requestId, end: null }]);
    expect(await store.endCall(callEnd)).toBe(true);
    expect(await store.endCall(callEnd)).toBe(false);
  });
});

it('a confirmation that is never taken is counted, and its calls are part of the story', async () => {
  const { id: redemptionId } = await bench.claimed();
  const deliveries = new DeliveryStore(bench.database);
  const step = async (event: DeliveryEvent) => {
    const before = (await deliveries.get(redemptionId))?.delivery;
    if (before === undefined) throw new Error('no confirmation');
    const decision = deliveryTransition(before, event, { nowMs: START_MS, jitter: 0 });
    if (decision.kind === 'refused') throw new Error(decision.code);
    await deliveries.apply({ redemptionId, before, next: decision.next });
  };
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const requestId = aUuid();
    await step({ type: 'call-due', requestId });
    await step({ type: 'failed', requestId, reason: 'timeout' });
  }
  expect(await deliveries.listUndelivered(5)).toMatchObject([{ redemptionId }]);
  expect(await views.counts()).toMatchObject({ confirmationsUndelivered: 1 });
  const history = await views.show(redemptionId);
  expect(history?.calls.filter((call) => call.step === 'confirm')).toHaveLength(10);
  expect(history?.redemption.state).toBe('claimed');
});

it('a nonce is good once, before it expires', async () => {
  const nonces = new NonceStore(bench.database);
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
