/**
 * Puts a simulated clock, timers and random numbers in the place of those of the process, for the time of a run, so
 * that the programs run as they are.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { seededRandom, seedOf } from './choices.js';
import { type Scheduler } from './scheduler.js';

const realImmediate = setImmediate;

/** Resolves when all promises and ticks of the process have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    realImmediate(resolve);
  });
}

/** @returns puts everything back as it was */
export function enterRealm(scheduler: Scheduler, seed: number): () => void {
  const undo: (() => void)[] = [];
  const replace = (target: object, name: string, value: unknown): void => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
    undo.push(() => {
      if (before) Object.defineProperty(target, name, before);
      else Reflect.deleteProperty(target, name);
    });
  };
  const timers = timersOf(scheduler);
  for (const [name, value] of Object.entries(timers)) replace(globalThis, name, value);
  replace(globalThis, 'Date', dateOf(scheduler));
  replace(performance, 'now', () => scheduler.monotonicMs());
  replace(AbortSignal, 'timeout', (ms: number) => {
    const controller = new AbortController();
    timers.setTimeout(() => {
      controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
    }, ms);
    return controller.signal;
  });
  replace(timersPromises, 'setTimeout', pauseOf(timers.setTimeout, timers.clearTimeout));
  replace(timersPromises, 'setImmediate', (value: unknown) => {
    return new Promise((resolve) => {
      timers.setImmediate(resolve, value);
    });
  });
  replaceRandom(replace, seedOf(seed, 'random'));
  syncBuiltinESMExports();
  return () => {
    for (const one of undo.reverse()) one();
    syncBuiltinESMExports();
  };
}

type Fire = (...values: unknown[]) => void;

class SimulatedTimer {
  constructor(
    readonly id: number,
    private readonly again: () => void,
  ) {}

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.again();
    return this;
  }
}

function timersOf(scheduler: Scheduler) {
  const start = (fire: Fire, ms: number, values: unknown[], isInterval: boolean) => {
    const set = (): number => {
      const work = (): void => {
        fire(...values);
      };
      return scheduler.setTimer(work, ms, isInterval ? Math.max(1, ms) : undefined);
    };
    const timer: { id: number } & SimulatedTimer = new SimulatedTimer(set(), () => {
      scheduler.clearTimer(timer.id);
      timer.id = set();
    });
    return timer;
  };
  const clear = (timer: SimulatedTimer | undefined | null): void => {
    if (timer) scheduler.clearTimer(timer.id);
  };
  return {
    setTimeout: (fire: Fire, ms = 0, ...values: unknown[]) => start(fire, ms, values, false),
    setInterval: (fire: Fire, ms = 0, ...values: unknown[]) => start(fire, ms, values, true),
    setImmediate: (fire: Fire, ...values: unknown[]) => {
      scheduler.setImmediate(() => {
        fire(...values);
      });
    },
    clearTimeout: clear,
    clearInterval: clear,
  };
}

/** As `setTimeout` of node:timers/promises. */
function pauseOf(
  set: (fire: Fire, ms: number) => SimulatedTimer,
  clear: (timer: SimulatedTimer) => void,
) {
  return (ms: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const aborted = (): void => {
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      if (signal?.aborted === true) {
        aborted();
        return;
      }
      const onAbort = (): void => {
        clear(timer);
        aborted();
      };
      const timer = set(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve(value);
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
}

function dateOf(scheduler: Scheduler): DateConstructor {
  return new Proxy(Date, {
    construct: (target, values: unknown[], newTarget) =>
      Reflect.construct(
        target,
        values.length === 0 ? [scheduler.nowMs()] : values,
        newTarget,
      ) as Date,
    get: (target, name, receiver): unknown =>
      name === 'now' ? () => scheduler.nowMs() : Reflect.get(target, name, receiver),
  });
}

/** Random values of which nothing depends but their difference: ids, keys, jitter. They are not choices of the run. */
function replaceRandom(
  replace: (target: object, name: string, value: unknown) => void,
  seed: number,
): void {
  const random = seededRandom(seed);
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
    return view;
  };
  const randomBytes = (size: number): Buffer => fill(Buffer.alloc(size));
  const randomUUID = (): string => {
    const hex = randomBytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const randomInt = (low: number, high?: number): number => {
    const [from, to] = high === undefined ? [0, low] : [low, high];
    return from + Math.floor(random() * (to - from));
  };
  replace(Math, 'random', random);
  replace(crypto, 'randomBytes', randomBytes);
  replace(crypto, 'randomUUID', randomUUID);
  replace(crypto, 'randomInt', randomInt);
  replace(crypto, 'randomFillSync', fill);
  replace(crypto.webcrypto, 'getRandomValues', fill);
  replace(crypto.webcrypto, 'randomUUID', randomUUID);
}
