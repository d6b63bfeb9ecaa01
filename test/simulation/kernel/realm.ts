/**
 * Puts a simulated clock, timers and random numbers in the place of those of the process, for the code of simulated
 * worlds, so that the programs run as they are. Code outside of the worlds keeps the real ones.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { place } from './place.js';
import { type Scheduler } from './scheduler.js';
import { PlainController, PlainSignal } from './signals.js';

const realImmediate = setImmediate;
const { setTimeout: realPause, setImmediate: realTurn } = timersPromises;

/** How many times a turn of the event loop, which costs a system call, lets all promises settle. */
const SETTLINGS_A_TURN = 100;
const waiting: (() => void)[] = [];
let settlingsLeft = 0;

/** Resolves when all promises and ticks of the process have run, as they have between two immediates. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (settlingsLeft > 0) return;
    for (; settlingsLeft < SETTLINGS_A_TURN; settlingsLeft++) {
      realImmediate(() => {
        settlingsLeft--;
        waiting.shift()?.();
      });
    }
  });
}

let entered = 0;
let restore: () => void = () => undefined;

/**
 * Replacing what Node exports takes a millisecond; enter once for many runs.
 * @returns leaves the realm; the last to leave puts everything back as it was
 */
export function enterRealm(): () => void {
  if (entered++ === 0) restore = replaceAll();
  return () => {
    if (--entered === 0) restore();
  };
}

type Replace = <T extends object>(target: T, name: keyof T, value: unknown) => void;

function replaceAll(): () => void {
  const undo: (() => void)[] = [];
  const replace: Replace = (target, name, value) => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
    undo.push(() => {
      if (before) Object.defineProperty(target, name, before);
      else Reflect.deleteProperty(target, name);
    });
  };
  replaceTimers(replace);
  replaceSignals(replace);
  replaceClocks(replace);
  replaceRandom(replace);
  syncBuiltinESMExports();
  return () => {
    for (const one of undo.reverse()) one();
    syncBuiltinESMExports();
  };
}

function world(): Scheduler | undefined {
  return place.getStore()?.scheduler;
}

type Fire = (...values: unknown[]) => void;

class SimulatedTimer {
  constructor(
    private readonly scheduler: Scheduler,
    private readonly id: number,
  ) {}

  unref(): this {
    return this;
  }

  clear(): void {
    this.scheduler.clearTimer(this.id);
  }
}

function replaceTimers(replace: Replace): void {
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval };
  const timerOf =
    (of: (fire: Fire, ms?: number, ...values: unknown[]) => unknown, isInterval: boolean) =>
    (fire: Fire, ms = 0, ...values: unknown[]): unknown => {
      const scheduler = world();
      return scheduler === undefined
        ? of(fire, ms, ...values)
        : simulatedTimer(scheduler, { fire: fire.bind(undefined, ...values), ms, isInterval });
    };
  const clearOf = (clear: (timer: never) => void) => (timer: unknown) => {
    if (timer instanceof SimulatedTimer) timer.clear();
    else clear(timer as never);
  };
  replace(globalThis, 'setTimeout', timerOf(real.setTimeout, false));
  replace(globalThis, 'setInterval', timerOf(real.setInterval, true));
  replace(globalThis, 'clearTimeout', clearOf(real.clearTimeout));
  replace(globalThis, 'clearInterval', clearOf(real.clearInterval));
  replace(globalThis, 'setImmediate', (fire: Fire, ...values: unknown[]) => {
    const scheduler = world();
    if (scheduler === undefined) return real.setImmediate(fire, ...values);
    scheduler.setImmediate(() => {
      fire(...values);
    });
    return undefined;
  });
  replace(timersPromises, 'setTimeout', (ms: number, value?: unknown, options: Abort = {}) => {
    const scheduler = world();
    return scheduler ? pause(scheduler, { ms, value, ...options }) : realPause(ms, value, options);
  });
  replace(timersPromises, 'setImmediate', (value: unknown) => {
    const scheduler = world();
    if (scheduler === undefined) return realTurn(value);
    return new Promise((resolve) => {
      scheduler.setImmediate(() => {
        resolve(value);
      });
    });
  });
}

interface TimerPlan {
  readonly fire: () => void;
  readonly ms: number;
  readonly isInterval: boolean;
}

function simulatedTimer(scheduler: Scheduler, { fire, ms, isInterval }: TimerPlan): SimulatedTimer {
  const everyMs = isInterval ? Math.max(1, ms) : undefined;
  return new SimulatedTimer(scheduler, scheduler.setTimer(fire, ms, everyMs));
}

interface Abort {
  readonly signal?: AbortSignal;
}

/** As `setTimeout` of node:timers/promises. */
function pause(
  scheduler: Scheduler,
  { ms, value, signal }: Abort & { readonly ms: number; readonly value: unknown },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    if (signal?.aborted === true) {
      aborted();
      return;
    }
    const onAbort = (): void => {
      scheduler.clearTimer(timer);
      aborted();
    };
    const timer = scheduler.setTimer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function replaceSignals(replace: Replace): void {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const any = AbortSignal.any.bind(AbortSignal);
  const controllers = new Proxy(AbortController, {
    construct: (target, values: unknown[], newTarget) =>
      world() ? new PlainController() : (Reflect.construct(target, values, newTarget) as object),
  });
  replace(globalThis, 'AbortController', controllers);
  replace(AbortSignal, 'any', (signals: Iterable<PlainSignal>) =>
    world() ? PlainSignal.any(signals) : any(signals as unknown as AbortSignal[]),
  );
  replace(AbortSignal, 'timeout', (ms: number) => {
    const scheduler = world();
    if (scheduler === undefined) return timeout(ms);
    const controller = new PlainController();
    scheduler.setTimer(() => {
      controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
    }, ms);
    return controller.signal;
  });
}

function replaceClocks(replace: Replace): void {
  const RealDate = Date;
  const now = (): number => world()?.wallMs() ?? RealDate.now();
  const SimulatedDate = new Proxy(RealDate, {
    construct: (target, values: unknown[], newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget) as Date,
    get: (target, name, receiver): unknown =>
      name === 'now' ? now : Reflect.get(target, name, receiver),
  });
  replace(globalThis, 'Date', SimulatedDate);
  const realMonotonic = performance.now.bind(performance);
  replace(performance, 'now', () => world()?.monotonicMs() ?? realMonotonic());
}

/** Random values of which nothing depends but their difference: ids, keys, jitter. They are not choices of the run. */
function replaceRandom(replace: Replace): void {
  const { random: realRandom } = Math;
  const { randomBytes, randomUUID, randomInt, randomFillSync, webcrypto } = crypto;
  const getRandomValues = webcrypto.getRandomValues.bind(webcrypto);
  replace(Math, 'random', () => (world()?.random ?? realRandom)());
  /** The simulated one within worlds, the real one outside. */
  const either =
    <A extends unknown[]>(
      simulated: (random: () => number, ...values: A) => unknown,
      real: (...values: A) => unknown,
    ) =>
    (...values: A): unknown => {
      const scheduler = world();
      return scheduler ? simulated(scheduler.random, ...values) : real(...values);
    };
  const uuid = either(uuidOf, randomUUID as () => unknown);
  replace(crypto, 'randomBytes', either(bytesOf, randomBytes as (size: number) => unknown));
  replace(crypto, 'randomUUID', uuid);
  replace(crypto, 'randomInt', either(intOf, randomInt as (low: number, high?: number) => unknown));
  replace(crypto, 'randomFillSync', either(fill, randomFillSync as (view: Buffer) => unknown));
  replace(
    webcrypto,
    'getRandomValues',
    either(fill, getRandomValues as (view: Uint8Array) => unknown),
  );
  replace(webcrypto, 'randomUUID', uuid);
}

function fill<T extends ArrayBufferView>(random: () => number, view: T): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
  return view;
}

function bytesOf(random: () => number, size: number): Buffer {
  return fill(random, Buffer.alloc(size));
}

function uuidOf(random: () => number): string {
  const hex = bytesOf(random, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function intOf(random: () => number, low: number, high?: number): number {
  const [from, to] = high === undefined ? [0, low] : [low, high];
  return from + Math.floor(random() * (to - from));
}
