import { describe, expect, it } from '@jest/globals';
import {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryDecision,
  type DeliveryEvent,
  deliveryEvent,
  deliveryTransition,
  mayAwaitConfirming,
  newDelivery,
} from './delivery.js';
import { aClaim, aRedemption, aUuid, CALL_ID, START_MS } from './testing/builders.js';
import { canonicalJson } from '../values/canonical-json.js';
import { confirmationPayload } from './confirmation.js';
import { type Redemption, REDEMPTION_STATES, type RedemptionState } from './redemption.js';

const HOUR = 3_600_000;
const CONTEXT = { nowMs: START_MS, jitter: 0 };

const EVENTS: Readonly<Record<DeliveryEvent['type'], DeliveryEvent>> = {
  'call-due': { type: 'call-due', requestId: CALL_ID },
  delivered: { type: 'delivered', requestId: CALL_ID },
  failed: { type: 'failed', requestId: CALL_ID, reason: 'timeout' },
  'not-sent': { type: 'not-sent', requestId: CALL_ID },
  replay: { type: 'replay' },
};
const EVENT_TYPES = Object.keys(EVENTS) as DeliveryEvent['type'][];

function aDelivery(change: Partial<Delivery> = {}): Delivery {
  return { ...newDelivery(START_MS), ...change };
}

function next(decision: DeliveryDecision): Delivery {
  if (decision.kind === 'refused') throw new Error(decision.code);
  return decision.next;
}

function outcomeOf(decision: DeliveryDecision): string {
  return decision.kind === 'refused' ? `!${decision.code}` : decision.next.state;
}

/**
 * Written by hand: the state, then the results of call-due, delivered, failed, not-sent and replay. `calling` is
 * `pending` with an open call.
 */
const EXPECTED: Readonly<Record<string, readonly [Partial<Delivery>, string]>> = {
  pending: [{}, 'pending !stale-call !stale-call !stale-call !still-trying'],
  calling: [
    { openRequestId: CALL_ID, attempts: 1 },
    '!call-open delivered pending pending !still-trying',
  ],
  delivered: [{ state: 'delivered' }, '!delivered !delivered !delivered !delivered pending'],
  undelivered: [
    { state: 'undelivered' },
    '!undelivered !undelivered !undelivered !undelivered pending',
  ],
};

const cells = Object.entries(EXPECTED).flatMap(([state, [change, row]]) =>
  EVENT_TYPES.map((type, index) => ({
    state,
    change,
    type,
    expected: row.split(' ')[index],
  })),
);

describe('a confirmation on its way', () => {
  it.each(cells)('$state x $type: $expected', ({ change, type, expected }) => {
    expect(outcomeOf(deliveryTransition(aDelivery(change), EVENTS[type], CONTEXT))).toBe(expected);
  });

  it('has an expectation for every state', () => {
    expect(Object.keys(EXPECTED)).toEqual(expect.arrayContaining([...DELIVERY_STATES]));
  });

  it('is tried ten times over 75 h, then is undelivered with an alert, and can be replayed', () => {
    let delivery = newDelivery(START_MS);
    let attempts = 0;
    let last: DeliveryDecision | undefined;
    while (delivery.state === 'pending') {
      const nowMs = delivery.nextActionAtMs ?? START_MS;
      const requestId = aUuid(nowMs, ++attempts);
      delivery = next(
        deliveryTransition(delivery, { type: 'call-due', requestId }, { nowMs, jitter: 0 }),
      );
      last = deliveryTransition(
        delivery,
        { type: 'failed', requestId, reason: 'crash' },
        { nowMs, jitter: 0 },
      );
      delivery = next(last);
      if (delivery.state === 'undelivered') expect(Math.floor((nowMs - START_MS) / HOUR)).toBe(75);
    }
    expect(attempts).toBe(10);
    expect(last).toMatchObject({ alerts: ['undelivered'] });
    expect(delivery.nextActionAtMs).toBeNull();
    const replayed = next(deliveryTransition(delivery, { type: 'replay' }, CONTEXT));
    expect(replayed).toMatchObject({ state: 'pending', attempts: 0, nextActionAtMs: START_MS });
    expect(replayed.version).toBe(delivery.version + 1);
  });

  it('that never left is no attempt, and is tried soon again, for 75 h', () => {
    let delivery = newDelivery(START_MS);
    let calls = 0;
    let nowMs = START_MS;
    while (delivery.state === 'pending') {
      nowMs = delivery.nextActionAtMs ?? nowMs;
      const requestId = aUuid(nowMs, ++calls);
      const context = { nowMs, jitter: 0 };
      delivery = next(deliveryTransition(delivery, { type: 'call-due', requestId }, context));
      delivery = next(deliveryTransition(delivery, { type: 'not-sent', requestId }, context));
      expect(delivery.attempts).toBe(0);
      if (calls === 1) expect(delivery.nextActionAtMs).toBe(START_MS + 5000);
    }
    expect(delivery.state).toBe('undelivered');
    expect(nowMs).toBe(START_MS + 75 * HOUR);
    expect(calls).toBeGreaterThan(150);
  });

  it('is told as not sent if nothing was sent', () => {
    const outcome = { kind: 'nothing-sent', reason: 'held-back', retryAfterSeconds: 7 } as const;
    expect(deliveryEvent(CALL_ID, outcome)).toEqual({
      ...{ type: 'not-sent', requestId: CALL_ID, retryAfterSeconds: 7 },
    });
  });

  it('may wait for a partner that is down, after a first call and until confirmations end', () => {
    const tried = aDelivery({ firstAttemptAtMs: START_MS });
    expect(mayAwaitConfirming(tried, START_MS + 75 * HOUR - 1)).toBe(true);
    expect(mayAwaitConfirming(tried, START_MS + 75 * HOUR)).toBe(false);
    expect(mayAwaitConfirming({ ...tried, openRequestId: CALL_ID }, START_MS)).toBe(false);
    expect(mayAwaitConfirming(aDelivery(), START_MS)).toBe(false);
  });

  it('waits for the circuit that held it back', () => {
    const calling = aDelivery({ openRequestId: CALL_ID, attempts: 1, firstAttemptAtMs: START_MS });
    const event: DeliveryEvent = { type: 'not-sent', requestId: CALL_ID, retryAfterSeconds: 40 };
    expect(next(deliveryTransition(calling, event, CONTEXT)).nextActionAtMs).toBe(
      START_MS + 40_000,
    );
  });

  it('that got through at last and was refused ends with the same 75 h', () => {
    const nowMs = START_MS + 70 * HOUR;
    const calling = aDelivery({ openRequestId: CALL_ID, attempts: 4, firstAttemptAtMs: START_MS });
    const once = deliveryTransition(calling, EVENTS.failed, { nowMs, jitter: 0 });
    expect(next(once).nextActionAtMs).toBe(nowMs + 2 * HOUR);
    const late = { ...calling, attempts: 6 };
    const last = next(deliveryTransition(late, EVENTS.failed, { nowMs, jitter: 0 }));
    expect(last.nextActionAtMs).toBe(START_MS + 75 * HOUR);
    const over = { ...last, openRequestId: CALL_ID, attempts: 7 };
    const atMs = START_MS + 75 * HOUR;
    expect(next(deliveryTransition(over, EVENTS.failed, { nowMs: atMs, jitter: 0 })).state).toBe(
      'undelivered',
    );
  });

  it('commits the call row before it calls, and takes only its own result', () => {
    const due = deliveryTransition(aDelivery(), EVENTS['call-due'], CONTEXT);
    expect(due).toMatchObject({
      next: { openRequestId: CALL_ID, attempts: 1 },
      alerts: [],
    });
    const stray: DeliveryEvent = { type: 'delivered', requestId: aUuid(START_MS, 99) };
    expect(deliveryTransition(next(due), stray, CONTEXT)).toEqual({
      kind: 'refused',
      code: 'stale-call',
    });
  });
});

const COMMON = {
  address: aRedemption('created').wallet,
  deductPoints: 5000,
  usdAmount: 50,
  svcAmount: 340,
  priceSvcUsd: 0.15,
  svcRedemptionId: aRedemption('created').id,
  initialAt: '2026-03-01T12:00:00.000Z',
  pendingAt: '2026-03-01T12:00:00.000Z',
};

describe('confirmationPayload', () => {
  it('of a claimed redemption proves the transfer', () => {
    expect(confirmationPayload(aRedemption('claimed'))).toEqual({
      ...COMMON,
      status: 'claimed',
      txnConfirmed: true,
      txnHash: `0x${'c'.repeat(64)}`,
      claimedAt: '2026-03-01T12:20:00.000Z',
      revertedAt: null,
    });
  });

  it('of a reverted one has no hash, and nothing confirmed on chain', () => {
    const payload = confirmationPayload(aRedemption('reverted'));
    expect(payload).toEqual({
      ...COMMON,
      status: 'reverted',
      txnConfirmed: false,
      claimedAt: null,
      revertedAt: '2026-03-01T12:00:05.000Z',
    });
    expect(canonicalJson(payload)).not.toContain('txnHash');
  });

  it('rounds each number once', () => {
    const payload = confirmationPayload(
      aRedemption('claimed', {
        tokenAmount: 333_266_666_666_666_666_666n,
        usdAmount: { digits: 10n ** 40n + 1n, scale: 40 },
        priceUsd: { digits: 1n, scale: 7 },
      }),
    );
    expect(payload).toMatchObject({
      svcAmount: Number('333.266666666666666666'),
      usdAmount: 1,
      priceSvcUsd: 1e-7,
    });
  });

  it.each<[RedemptionState, Partial<Redemption>]>([
    ['claimed', { paidEvidence: null }],
    ['claimed', { claimedAtMs: null }],
    ['claimed', { pendingAtMs: null }],
    ['attention', { paidEvidence: aClaim(), claimedAtMs: START_MS }],
    ['reverted', { revertedAtMs: null }],
    ['reverting', { revertedAtMs: START_MS }],
  ])('there is none for %s with %o', (state, change) => {
    expect(() => confirmationPayload(aRedemption(state, change))).toThrow(
      expect.objectContaining({ code: 'NOT_CONFIRMABLE' }),
    );
  });

  it.each(REDEMPTION_STATES.filter((state) => state !== 'claimed' && state !== 'reverted'))(
    'there is none for %s',
    (state) => {
      expect(() => confirmationPayload(aRedemption(state))).toThrow(
        expect.objectContaining({ code: 'NOT_CONFIRMABLE' }),
      );
    },
  );
});
