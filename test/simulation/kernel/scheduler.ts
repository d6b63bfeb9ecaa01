/**
 * Decides what happens next in a simulated world. The code under test waits for calls through seams and for timers;
 * each step answers one call, fires one timer, or lets the world act. Between two steps all promises have settled, so
 * that nothing but the choices decides the order.
 */
import { randomFrom } from '#libs/testing/seeds';
import { type Choices, seedOf } from './choices.js';
import { place } from './place.js';
import { type Trace } from './trace.js';

/** One way in which a call may end. */
export interface CallEnd<T> {
  readonly name: string;
  /** Share among the ends of the call; a whole number. */
  readonly weight: number;
  /** Returns or throws what the caller gets. Absent: the caller never gets an answer. */
  readonly run?: () => T | Promise<T>;
}

/** A call of the code under test to the world outside. */
export interface SeamCall<T> {
  /** For the trace, for example `rpc a eth_getLogs 3..4`. */
  readonly name: string;
  /** The first is the plain one, which every call has in a calm world. */
  readonly ends: readonly [CallEnd<T>, ...CallEnd<T>[]];
  /** Where it is aborted, the call is rejected with its reason and not made. */
  readonly signal?: AbortSignal | undefined;
  /** The call is still made after the death of its process, which no longer gets the answer. */
  readonly outlivesProcess?: boolean;
}

/** Something that the world may do of its own accord. */
export interface WorldAction {
  readonly name: string;
  /** Share against a call, which has 10; a whole number, 0 while it cannot happen. */
  weight(): number;
  run(): void | Promise<void>;
}

/** A process in the simulated world. All code that it starts, with its calls and timers, belongs to it. */
export class SimulatedProcess {
  isAlive = true;

  /** @param clockAheadMs its wall clock minus that of the world */
  constructor(
    readonly name: string,
    readonly clockAheadMs = 0,
  ) {}
}

export interface RunLimits {
  readonly until: () => boolean;
  readonly mostSteps: number;
  /** Called when everything has settled; throws where the world is not as it must be. */
  readonly afterStep?: () => void | Promise<void>;
}

/** `idle`: nothing is left that could happen. */
export type RunOutcome = 'reached' | 'steps used up' | 'idle';

interface PendingCall {
  readonly name: string;
  readonly process: SimulatedProcess | undefined;
  readonly outlivesProcess: boolean;
  readonly ends: readonly CallEnd<unknown>[];
  /** Not answered before this time. */
  notBeforeMs: number;
  settle(end: CallEnd<unknown>): Promise<void> | void;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly everyMs: number | undefined;
  readonly process: SimulatedProcess | undefined;
  readonly fire: () => void;
}

export interface SchedulerOptions {
  /** Unix time at the beginning, in milliseconds. */
  readonly startMs: number;
  /** How many calls of 1,000 are answered late. Default: 20. */
  readonly slowPerMille?: number;
  /** The longest delay of a late answer. Default: a minute. */
  readonly slowestMs?: number;
  /** Share of a timer against a call, which has 10, while calls are unanswered. Default: 1. */
  readonly timerWeight?: number;
}

const CALL_WEIGHT = 10;

export class Scheduler {
  /** While true no call fails or is late. */
  isCalm = false;
  steps = 0;
  readonly actions: WorldAction[] = [];
  private elapsedMs = 0;
  private leaptMs = 0;
  private order = 0;
  private pending: PendingCall[] = [];
  private readonly timers = new Map<number, Timer>();
  private immediates: { fire: () => void; process: SimulatedProcess | undefined }[] = [];
  /** Numbers from 0 to below 1, of which nothing depends but their difference. */
  readonly random: () => number;

  constructor(
    private readonly choices: Choices,
    readonly trace: Trace,
    private readonly options: SchedulerOptions,
    /** Resolves when all promises have settled; see Realm. */
    private readonly settled: () => Promise<void>,
  ) {
    this.random = randomFrom(seedOf(choices.seed, 'random'));
  }

  /** The wall clock of the world, Unix time in milliseconds. */
  nowMs(): number {
    return this.options.startMs + this.elapsedMs + this.leaptMs;
  }

  /** The wall clock of the process that the running code belongs to. */
  wallMs(): number {
    return this.nowMs() + (this.process?.clockAheadMs ?? 0);
  }

  /** The clock of the timers, in milliseconds from the beginning. */
  monotonicMs(): number {
    return this.elapsedMs;
  }

  /** Sets the wall clock forward; no timer fires, as after a machine was suspended. */
  leap(ms: number): void {
    this.leaptMs += ms;
  }

  note(what: string): void {
    this.trace.add(this.elapsedMs, what);
  }

  /** Runs the main function of a new process. What it throws is left to the main function. */
  start(name: string, main: () => void, clockAheadMs = 0): SimulatedProcess {
    const process = new SimulatedProcess(name, clockAheadMs);
    this.note(`${name} starts`);
    this.within(process, main);
    return process;
  }

  /** The process that the running code belongs to. */
  get process(): SimulatedProcess | undefined {
    return place.getStore()?.process;
  }

  /** Runs code of a process, for example a request that it serves. */
  within<T>(process: SimulatedProcess, work: () => T): T {
    return place.run({ scheduler: this, process }, work);
  }

  /** Ends a process between two of its steps: it never runs again. */
  kill(process: SimulatedProcess): void {
    this.note(`${process.name} dies`);
    process.isAlive = false;
    this.pending = this.pending.filter((call) => call.process !== process || call.outlivesProcess);
    this.immediates = this.immediates.filter((one) => one.process !== process);
    for (const [id, timer] of this.timers) if (timer.process === process) this.timers.delete(id);
  }

  /** A call through a seam. It stays unanswered until a step picks it. */
  call<T>({ name, ends, signal, outlivesProcess = false }: SeamCall<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { process } = this;
      const call: PendingCall = {
        name,
        process,
        outlivesProcess,
        ends,
        notBeforeMs: 0,
        settle: async (end) => {
          if (end.run === undefined) return;
          signal?.removeEventListener('abort', onAbort);
          try {
            const value = await end.run();
            if (process?.isAlive !== false) resolve(value as T);
          } catch (error) {
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
            if (process?.isAlive !== false) reject(error);
          }
        },
      };
      const onAbort = (): void => {
        this.pending = this.pending.filter((one) => one !== call);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(signal?.reason);
      };
      if (signal?.aborted === true) {
        onAbort();
        return;
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      this.pending.push(call);
    });
  }

  /** @param everyMs of an interval */
  setTimer(fire: () => void, afterMs: number, everyMs?: number): number {
    const order = ++this.order;
    const dueMs = this.elapsedMs + Math.max(1, Math.trunc(afterMs) || 1);
    const { process } = this;
    if (process?.isAlive !== false) {
      this.timers.set(order, { dueMs, order, everyMs, process, fire });
    }
    return order;
  }

  clearTimer(id: number): void {
    this.timers.delete(id);
  }

  setImmediate(fire: () => void): void {
    this.immediates.push({ fire, process: this.process });
  }

  /** Makes one step after the other until the condition holds. */
  async run({ until, mostSteps, afterStep }: RunLimits): Promise<RunOutcome> {
    for (const end = this.steps + mostSteps; ;) {
      await this.settle();
      await afterStep?.();
      if (until()) return 'reached';
      if (this.steps >= end) return 'steps used up';
      if (!(await this.step())) return 'idle';
    }
  }

  private async settle(): Promise<void> {
    await this.settled();
    while (this.immediates.length > 0) {
      const { fire, process } = this.immediates.shift() ?? {};
      if (fire) this.in(process, fire);
      await this.settled();
    }
  }

  /** @returns false where nothing is left that could happen */
  private async step(): Promise<boolean> {
    const calls = this.pending.filter(({ notBeforeMs }) => notBeforeMs <= this.elapsedMs);
    const timer = this.nextTimer();
    const { timerWeight = 1 } = this.options;
    const weights = calls.map(() => CALL_WEIGHT);
    if (timer) weights.push(calls.length > 0 ? timerWeight : CALL_WEIGHT);
    const actions = this.actions.filter((action) => {
      const weight = action.weight();
      if (weight > 0) weights.push(weight);
      return weight > 0;
    });
    if (weights.length === 0) return false;
    this.steps++;
    const at = this.choices.weighted('next', weights);
    const call = calls[at];
    if (call) await this.answer(call);
    else if (timer && at === calls.length) this.fire(timer);
    else await this.act(actions[at - calls.length - (timer ? 1 : 0)]);
    return true;
  }

  /** Timers, and calls whose late answer arrives. */
  private nextTimer(): Timer | PendingCall | undefined {
    let next: Timer | PendingCall | undefined;
    const dueMs = (one: Timer | PendingCall): number =>
      'fire' in one ? one.dueMs : one.notBeforeMs;
    for (const timer of this.timers.values())
      if (next === undefined || timer.dueMs < dueMs(next)) next = timer;
    for (const call of this.pending)
      if (call.notBeforeMs > this.elapsedMs && (!next || call.notBeforeMs < dueMs(next)))
        next = call;
    return next;
  }

  private async answer(call: PendingCall): Promise<void> {
    const { choices, options, isCalm } = this;
    const { slowPerMille = 20, slowestMs = 60_000 } = options;
    if (!isCalm && call.notBeforeMs === 0 && choices.chance('slow', slowPerMille)) {
      call.notBeforeMs = this.elapsedMs + choices.between('delay', 1, slowestMs);
      this.note(`${nameOf(call)}: waits`);
      return;
    }
    this.pending = this.pending.filter((one) => one !== call);
    const weights = call.ends.map(({ weight }) => weight);
    const at = isCalm || call.ends.length === 1 ? 0 : choices.weighted('end', weights);
    const end = call.ends[at];
    if (end === undefined) return;
    this.note(`${nameOf(call)}: ${end.name}`);
    await call.settle(end);
  }

  private fire(timer: Timer | PendingCall): void {
    if (!('fire' in timer)) {
      this.elapsedMs = timer.notBeforeMs;
      return;
    }
    const { dueMs, order, everyMs, process, fire } = timer;
    this.elapsedMs = Math.max(this.elapsedMs, dueMs);
    this.timers.delete(order);
    if (everyMs !== undefined) {
      this.timers.set(order, { ...timer, dueMs: this.elapsedMs + everyMs });
    }
    this.in(process, fire);
  }

  private async act(action: WorldAction | undefined): Promise<void> {
    if (action === undefined) return;
    this.note(action.name);
    await action.run();
  }

  private in(process: SimulatedProcess | undefined, work: () => void): void {
    if (process) this.within(process, work);
    else work();
  }
}

function nameOf({ process, name }: PendingCall): string {
  return process ? `${process.name} ${name}` : name;
}
