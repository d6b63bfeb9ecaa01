/**
 * The confirmation of one redemption on its way to the partner (rule H). It is sent until it is taken or the schedule is spent; whatever
 * becomes of it, the redemption does not change.
 */
import { reasonOf } from './call-event.js';
import { type CallOutcome, type UnknownReason } from './call-outcome.js';
import { isAlerted } from './redemption-event.js';
import { CONFIRM_SCHEDULE, CONFIRM_WITHIN_MS, nextAttemptAtMs, unsentWaitMs } from './schedule.js';
import { type UuidV7 } from './uuid-v7.js';

export const DELIVERY_STATES = ['pending', 'delivered', 'undelivered'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery {
  readonly state: DeliveryState;
  readonly version: number;
  /** Of the present round; a replay begins another one. */
  readonly attempts: number;
  readonly firstAttemptAtMs: number | null;
  /** `X-API-REQUEST` of the call under way. */
  readonly openRequestId: UuidV7 | null;
  readonly nextActionAtMs: number | null;
  readonly deliveredAtMs: number | null;
}

export const DELIVERY_EVENT_TYPES = [
  'call-due',
  'delivered',
  'failed',
  'not-sent',
  'replay',
] as const;
export type DeliveryEvent =
  | { readonly type: 'call-due'; readonly requestId: UuidV7 }
  | { readonly type: 'delivered'; readonly requestId: UuidV7 }
  | {
      readonly type: 'failed';
      readonly requestId: UuidV7;
      readonly reason: UnknownReason;
      readonly retryAfterSeconds?: number;
    }
  /** The call was given up, and no byte of it left. */
  | { readonly type: 'not-sent'; readonly requestId: UuidV7; readonly retryAfterSeconds?: number }
  /** An operator's command. */
  | { readonly type: 'replay' };

export type DeliveryEffect =
  | { readonly kind: 'record-call' | 'call-partner'; readonly requestId: UuidV7 }
  | {
      readonly kind: 'alert';
      readonly severity: 'warning';
      readonly code: 'undelivered' | UnknownReason;
    };

export type DeliveryDecision =
  | { readonly kind: 'moved'; readonly next: Delivery; readonly effects: readonly DeliveryEffect[] }
  | {
      readonly kind: 'refused';
      readonly code: 'delivered' | 'undelivered' | 'call-open' | 'stale-call' | 'still-trying';
    };

export function newDelivery(nowMs: number): Delivery {
  return {
    state: 'pending',
    version: 1,
    attempts: 0,
    firstAttemptAtMs: null,
    openRequestId: null,
    nextActionAtMs: nowMs,
    deliveredAtMs: null,
  };
}

/** What the outcome of a confirmation call means: the confirm column of the fault table. */
export function deliveryEvent(
  requestId: UuidV7,
  outcome: CallOutcome<'confirm'>,
): Extract<DeliveryEvent, { type: 'delivered' | 'failed' | 'not-sent' }> {
  switch (outcome.kind) {
    case 'succeeded':
      return { type: 'delivered', requestId };
    case 'nothing-sent':
      return { type: 'not-sent', requestId, ...waitOf(outcome) };
    case 'refused':
      if (outcome.code === 'ERR-DUPLICATE-REQUEST') return { type: 'delivered', requestId };
      return { type: 'failed', requestId, reason: reasonOf(outcome.code), ...waitOf(outcome) };
    case 'unknown':
      return { type: 'failed', requestId, reason: outcome.reason, ...waitOf(outcome) };
  }
}

export function deliveryTransition(
  delivery: Delivery,
  event: DeliveryEvent,
  context: { readonly nowMs: number; readonly jitter: number },
): DeliveryDecision {
  const { nowMs } = context;
  if (event.type === 'replay') {
    // Also after a delivery: a partner may have lost what it took. Another round of the same payload.
    return delivery.state === 'pending'
      ? { kind: 'refused', code: 'still-trying' }
      : moved(delivery, { ...newDelivery(nowMs), deliveredAtMs: delivery.deliveredAtMs });
  }
  if (delivery.state !== 'pending') return { kind: 'refused', code: delivery.state };
  const { requestId } = event;
  if (event.type === 'call-due') {
    if (delivery.openRequestId !== null) return { kind: 'refused', code: 'call-open' };
    return moved(
      delivery,
      {
        attempts: delivery.attempts + 1,
        firstAttemptAtMs: delivery.firstAttemptAtMs ?? nowMs,
        openRequestId: requestId,
        nextActionAtMs: nowMs,
      },
      [
        { kind: 'record-call', requestId },
        { kind: 'call-partner', requestId },
      ],
    );
  }
  if (delivery.openRequestId !== requestId) return { kind: 'refused', code: 'stale-call' };
  const { firstAttemptAtMs } = delivery;
  const so = { ...context, firstAttemptAtMs: firstAttemptAtMs ?? nowMs };
  switch (event.type) {
    case 'delivered':
      return moved(delivery, {
        state: 'delivered',
        openRequestId: null,
        nextActionAtMs: null,
        deliveredAtMs: nowMs,
      });
    case 'failed': {
      const { attempts } = delivery;
      const { reason, retryAfterSeconds } = event;
      const alerts: DeliveryEffect[] = isAlerted('confirm', reason)
        ? [{ kind: 'alert', severity: 'warning', code: reason }]
        : [];
      const atMs = nextAttemptAtMs(CONFIRM_SCHEDULE, { ...so, attempts, retryAfterSeconds });
      return tryLater(delivery, { atMs, alerts }, so);
    }
    case 'not-sent': {
      // No attempt of the schedule: the partner was not asked.
      const unsent = { ...delivery, attempts: delivery.attempts - 1 };
      const atMs = nowMs + unsentWaitMs({ ...so, retryAfterSeconds: event.retryAfterSeconds });
      return tryLater(unsent, { atMs, alerts: [] }, so);
    }
  }
}

interface Later {
  /** Undefined where the schedule is spent. */
  readonly atMs: number | undefined;
  readonly alerts: readonly DeliveryEffect[];
}

/** What would be due after the end of the time is due at its end, for the last time. */
function tryLater(
  delivery: Delivery,
  { atMs, alerts }: Later,
  { nowMs, firstAttemptAtMs }: { readonly nowMs: number; readonly firstAttemptAtMs: number },
): DeliveryDecision {
  const untilMs = firstAttemptAtMs + CONFIRM_WITHIN_MS;
  if (atMs === undefined || nowMs >= untilMs) {
    return moved(delivery, { state: 'undelivered', openRequestId: null, nextActionAtMs: null }, [
      ...alerts,
      { kind: 'alert', severity: 'warning', code: 'undelivered' },
    ]);
  }
  const nextActionAtMs = Math.min(atMs, untilMs);
  return moved(delivery, { openRequestId: null, nextActionAtMs }, alerts);
}

/** Whether a call that would be held back may wait without a trace: one was begun, and the time for it is not over. */
export function mayAwaitConfirming(
  { openRequestId, firstAttemptAtMs }: Pick<Delivery, 'openRequestId' | 'firstAttemptAtMs'>,
  nowMs: number,
): boolean {
  if (openRequestId !== null || firstAttemptAtMs === null) return false;
  return nowMs < firstAttemptAtMs + CONFIRM_WITHIN_MS;
}

function moved(
  delivery: Delivery,
  change: Partial<Delivery>,
  effects: readonly DeliveryEffect[] = [],
): DeliveryDecision {
  return {
    kind: 'moved',
    next: { ...delivery, ...change, version: delivery.version + 1 },
    effects,
  };
}

function waitOf({ retryAfterSeconds }: { readonly retryAfterSeconds?: number }) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}
