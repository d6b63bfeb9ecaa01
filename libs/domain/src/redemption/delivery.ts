/**
 * The delivery of the confirmation of one redemption to the partner (rule H). The confirmation is sent until the
 * partner takes it or the schedule is spent. Its outcome never changes the redemption.
 */
import { isSettling } from '#libs/partner-sdk/answers';
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
  /** Attempts of the current round; a replay begins another round. */
  readonly attempts: number;
  readonly firstAttemptAtMs: number | null;
  /** `X-API-REQUEST` of the open call. */
  readonly openRequestId: UuidV7 | null;
  readonly nextActionAtMs: number | null;
  readonly deliveredAtMs: number | null;
}

export type DeliveryEvent =
  /** The next call is due. It may be made once this transition is written. */
  | { readonly type: 'call-due'; readonly requestId: UuidV7 }
  | { readonly type: 'delivered'; readonly requestId: UuidV7 }
  | {
      readonly type: 'failed';
      readonly requestId: UuidV7;
      readonly reason: UnknownReason;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The call was given up, and no byte of it was sent. */
  | {
      readonly type: 'not-sent';
      readonly requestId: UuidV7;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** An operator's command to send the confirmation again. */
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

/** The event for the outcome of a confirmation call (the confirm column of the fault table). */
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
      return isSettling('confirm', outcome.code)
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
    // Begins another round with the same payload, also after a delivery, because the partner may have lost the
    // confirmation.
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
      // Not an attempt of the schedule, because the partner was not asked.
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

/** An attempt that would be due after CONFIRM_WITHIN_MS is due at its end, as the last one. */
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

/**
 * Whether a confirmation that the partner's circuit breaker would hold back may be postponed without a row of a call:
 * no call is open, a first call was made, and the time for confirmations is not over.
 */
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
