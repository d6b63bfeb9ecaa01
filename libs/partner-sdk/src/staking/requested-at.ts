/** Compares the time that an answer names with the time of its request. */
import { UnexpectedAnswerError } from './errors.js';

/** The time of a request by the caller's clock; Unix time in milliseconds. */
export interface RequestTime {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** Greatest difference between the two clocks in seconds, either way. */
  readonly freshSeconds: number;
}

/**
 * Requires that the service received the request while it was under way. Otherwise the answer is an earlier one.
 * @param time undefined where a nonce binds the answer to its request @throws UnexpectedAnswerError
 */
export function requireTimely(body: unknown, time: RequestTime | undefined): void {
  if (time === undefined) return;
  const requestedAtMs = requestedAtOf(body);
  const { sentMs, receivedMs, freshSeconds } = time;
  const freshMs = freshSeconds * 1000;
  if (requestedAtMs >= sentMs - freshMs && requestedAtMs <= receivedMs + freshMs) return;
  throw new UnexpectedAnswerError(
    `requestedAt is more than ${freshSeconds} s from the clock here: it is an earlier answer, or the clock is wrong`,
  );
}

/** Unix time in milliseconds. @throws UnexpectedAnswerError */
export function requestedAtOf(body: unknown): number {
  const { requestedAt } = (body ?? {}) as { requestedAt?: unknown };
  const requestedAtMs = typeof requestedAt === 'string' ? Date.parse(requestedAt) : NaN;
  if (Number.isNaN(requestedAtMs)) throw new UnexpectedAnswerError('requestedAt is not a time');
  return requestedAtMs;
}
