import { describe, expect, it } from '@jest/globals';
import {
  type Delivery,
  DELIVERY_EVENT_TYPES,
  DELIVERY_STATES,
  type DeliveryDecision,
  type DeliveryEvent,
  deliveryTransition,
  newDelivery,
} from './delivery.js';
import { aUuid, CALL_ID, START_MS } from './testing/builders.js';

const HOUR = 3_600_000;
const CONTEXT = { nowMs: START_MS, jitter: 0 };

const EVENTS: Readonly<Record<DeliveryEvent['type'], DeliveryEvent>> = {
  'call-due': { type: 'call-due', requestId: CALL_ID },
  delivered: { type: 'delivered', requestId: CALL_ID },
  failed: { type: 'failed', requestId: CALL_ID, reason: 'timeout' },
  replay: { type: 'replay' },
};

function aDelivery(change: Partial<Delivery> = {}): Delivery {
  return { ...newDelivery(START_MS), ...change };
}

function next(decision: DeliveryDecision): Delivery {
  if (decision.kind === 'refused') throw new Error(decision.code);
  return decision.next;
}

function outcomeOf(decision: DeliveryDecision): string {
  return decision.kind === 'moved' ? decision.next.state : `!${decision.code}`;
}

/** By hand: state, then call-due, delivered, failed, replay. `calling` is `pending` with a call under way. */
const EXPECTED: Readonly<Record<string, readonly [Partial<Delivery>, string]>> = {
  pending: [{}, 'pending !stale-call !stale-call !still-trying'],
  calling: [{ openRequestId: CALL_ID, attempts: 1 }, '!call-open delivered pending !still-trying'],
  delivered: [{ state: 'delivered' }, '!delivered !delivered !delivered pending'],
  undelivered: [{ state: 'undelivered' }, '!undelivered !undelivered !undelivered pending'],
};

const cells = Object.entries(EXPECTED).flatMap(([state, [change, row]]) =>
  DELIVERY_EVENT_TYPES.map((type, index) => ({
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
    expect(last).toMatchObject({ effects: [{ kind: 'alert', code: 'undelivered' }] });
    expect(delivery.nextActionAtMs).toBeNull();
    const replayed = next(deliveryTransition(delivery, { type: 'replay' }, CONTEXT));
    expect(replayed).toMatchObject({ state: 'pending', attempts: 0, nextActionAtMs: START_MS });
    expect(replayed.version).toBe(delivery.version + 1);
  });

  it('commits the call row before it calls, and takes only its own result', () => {
    const due = deliveryTransition(aDelivery(), EVENTS['call-due'], CONTEXT);
    expect(due).toMatchObject({
      next: { openRequestId: CALL_ID, attempts: 1 },
      effects: [{ kind: 'record-call' }, { kind: 'call-partner' }],
    });
    const stray: DeliveryEvent = { type: 'delivered', requestId: aUuid(START_MS, 99) };
    expect(deliveryTransition(next(due), stray, CONTEXT)).toEqual({
      kind: 'refused',
      code: 'stale-call',
    });
  });
});
