/**
 * The confirmation of one redemption on its way to the partner (rule H). It is sent until it is taken or the schedule is spent; whatever
 * becomes of it, the redemption does not change.
 */
import { isAlerted } from './alerts.js';
import { reasonOf } from './partner-answer.js';
import { type CallOutcome, type UnknownReason } from './partner-call.js';
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

export type DeliveryEvent =
  /** Its call begins with this transition, and may be made once it is written. */
  | { readonly type: 'call-due'; readonly requestId: UuidV7 }
  | { readonly type: 'delivered'; readonly requestId: UuidV7 }
  | {
      readonly type: 'failed';
      readonly requestId: UuidV7;
      readonly reason: UnknownReason;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The call was given up, and no byte of it left. */
  | {
      readonly type: 'not-sent';
      readonly requestId: UuidV7;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** An operator's command. */
  | { readonly type: 'replay' };

export type DeliveryAlert = 'undelivered' | UnknownReason;

export type DeliveryDecision =
  | {
      readonly kind: 'moved';
      readonly next: Delivery;
      readonly alerts: readonly DeliveryAlert[];
    }
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
  if (outcome.kind === 'succeeded') return { type: 'delivered', requestId };
  const { retryAfterSeconds } = outcome;
  switch (outcome.kind) {
    case 'nothing-sent':
      return { type: 'not-sent', requestId, retryAfterSeconds };
    case 'refused':
      return outcome.code === 'ERR-DUPLICATE-REQUEST'
        ? { type: 'delivered', requestId }
        : { type: 'failed', requestId, reason: reasonOf(outcome.code), retryAfterSeconds };
    case 'unknown':
      return { type: 'failed', requestId, reason: outcome.reason, retryAfterSeconds };
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
  const { attempts, openRequestId, firstAttemptAtMs: firstMs } = delivery;
  const firstAttemptAtMs = firstMs ?? nowMs;
  if (event.type === 'call-due') {
    return openRequestId !== null
      ? { kind: 'refused', code: 'call-open' }
      : moved(delivery, {
          attempts: attempts + 1,
          firstAttemptAtMs,
          openRequestId: requestId,
          nextActionAtMs: nowMs,
        });
  }
  if (openRequestId !== requestId) return { kind: 'refused', code: 'stale-call' };
  const so = { ...context, firstAttemptAtMs };
  switch (event.type) {
    case 'delivered':
      return moved(delivery, {
        state: 'delivered',
        openRequestId: null,
        nextActionAtMs: null,
        deliveredAtMs: nowMs,
      });
    case 'failed': {
      const { reason, retryAfterSeconds } = event;
      const alerts = isAlerted('confirm', reason) ? [reason] : [];
      const atMs = nextAttemptAtMs(CONFIRM_SCHEDULE, { ...so, attempts, retryAfterSeconds });
      return tryLater(delivery, { atMs, alerts }, so);
    }
    case 'not-sent': {
      // No attempt of the schedule: the partner was not asked.
      const unsent = { ...delivery, attempts: attempts - 1 };
      const atMs = nowMs + unsentWaitMs({ ...so, retryAfterSeconds: event.retryAfterSeconds });
      return tryLater(unsent, { atMs, alerts: [] }, so);
    }
  }
}

interface Later {
  /** Undefined where the schedule is spent. */
  readonly atMs: number | undefined;
  readonly alerts: readonly DeliveryAlert[];
}

/** What would be due after the end of the time is due at its end, for the last time. */
function tryLater(
  delivery: Delivery,
  { atMs, alerts }: Later,
  { nowMs, firstAttemptAtMs }: { readonly nowMs: number; readonly firstAttemptAtMs: number },
): DeliveryDecision {
  const untilMs = firstAttemptAtMs + CONFIRM_WITHIN_MS;
  if (atMs === undefined || nowMs >= untilMs) {
    const change = { state: 'undelivered', openRequestId: null, nextActionAtMs: null } as const;
    return moved(delivery, change, [...alerts, 'undelivered']);
  }
  const nextActionAtMs = Math.min(atMs, untilMs);
  return moved(delivery, { openRequestId: null, nextActionAtMs }, alerts);
}

/** Whether a call that would be held back may wait without a trace: one was begun, and the time for it is not over. */
export function mayAwaitConfirming(
  { openRequestId, firstAttemptAtMs }: Delivery,
  nowMs: number,
): boolean {
  if (openRequestId !== null || firstAttemptAtMs === null) return false;
  return nowMs < firstAttemptAtMs + CONFIRM_WITHIN_MS;
}

function moved(
  delivery: Delivery,
  change: Partial<Delivery>,
  alerts: readonly DeliveryAlert[] = [],
): DeliveryDecision {
  return { kind: 'moved', next: { ...delivery, ...change, version: delivery.version + 1 }, alerts };
}
