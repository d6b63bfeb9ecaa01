import { setTimeout as delay } from 'node:timers/promises';

const PASSED = Symbol('the time has passed');

/**
 * Returns the result of the work, or of `late` where the work takes longer than `ms`. The late work continues, and its
 * result or error is ignored.
 * @throws an error of the work in time, and an error of `late`
 */
export async function withTimeout<T, L>(
  ms: number,
  work: Promise<T>,
  late: () => L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<typeof PASSED>((resolve) => {
    timer = setTimeout(resolve, ms, PASSED);
  });
  try {
    const first = await Promise.race([work, passed]);
    return first === PASSED ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

export interface DeadlineOptions {
  /** Makes the signal's reason when the time is up. */
  readonly late: () => Error;
  /** Aborting the parent also aborts the signal. */
  readonly parent?: AbortSignal | undefined;
  /** Makes the signal's reason from the parent's when the parent aborts; default: the parent's reason. */
  readonly ended?: (reason: unknown) => unknown;
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** Aborts the signal before its time. */
  abort(): void;
  /** Releases timer and listener. Call it when the bounded work has ended, with or without success. */
  end(): void;
}

/** A signal that aborts when the time is up, or when its parent aborts. */
export function deadlineIn(ms: number, options: DeadlineOptions): Deadline {
  const { late, parent, ended = (reason) => reason } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(late());
  }, ms);
  const onParent = (): void => {
    controller.abort(ended(parent?.reason));
  };
  if (parent?.aborted === true) onParent();
  parent?.addEventListener('abort', onParent);
  const end = (): void => {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onParent);
  };
  return {
    signal: controller.signal,
    abort: () => {
      end();
      controller.abort();
    },
    end,
  };
}

/** Waits; returns early, without an error, when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal && { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/** Every form of an HTTP date begins with the weekday and ends with the zone or the year; Date.parse accepts more. */
const HTTP_DATE = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? [\w: -]{10,24}( GMT)?$/;

/**
 * Parses `Retry-After` in both forms of RFC 9110, section 10.2.3: whole seconds, or an HTTP date.
 * @returns milliseconds from `nowMs`, 0 to `longestMs`; undefined where the text has neither form
 */
export function retryAfterMs(header: string, nowMs: number, longestMs: number): number | undefined {
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(longestMs, Math.max(0, waitMs));
}

/** NaN where the text is no HTTP date. The asctime form has no zone and means UTC. */
function httpDateMs(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
}
