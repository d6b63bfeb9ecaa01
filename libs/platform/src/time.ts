import { setTimeout as delay } from 'node:timers/promises';

const PASSED = Symbol('the time has passed');

/**
 * What the work gives, or what `late` gives where it takes longer. The work goes on then, and what becomes of it is not told.
 * @throws what the work throws in time, and what `late` throws
 */
export async function within<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
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
  /** The signal's reason when the time is up. */
  readonly late: () => Error;
  /** Ends the signal too. */
  readonly parent?: AbortSignal | undefined;
  /** The signal's reason when the parent ends, made of the parent's; default: the parent's own. */
  readonly ended?: (reason: unknown) => unknown;
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** Ends the signal before its time. */
  abort(): void;
  /** To be called when what it bounds has ended, however that came about. */
  end(): void;
}

/** A signal that ends when the time is up, or when its parent does. */
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

/** Waits; ends early, without an error, when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal && { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/** Every form of an HTTP date begins with the day of the week and ends with the zone or the year; Date.parse takes far more. */
const HTTP_DATE = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? [\w: -]{10,24}( GMT)?$/;

/**
 * `Retry-After` in either form of RFC 9110, section 10.2.3: whole seconds, or an HTTP date.
 * @returns milliseconds from `nowMs`, 0 to `longestMs`; undefined where the text is neither form
 */
export function retryAfterMs(header: string, nowMs: number, longestMs: number): number | undefined {
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(longestMs, Math.max(0, waitMs));
}

/** NaN where the text is no HTTP date. The form of C's asctime names no zone and means UTC. */
function httpDateMs(text: string): number {
  if (!HTTP_DATE.test(text)) return NaN;
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
}
