/**
 * The circuit breaker of a partner, and the limit of concurrent calls to it. The circuit's functions are pure: a state,
 * a time and a random number in, a state out.
 *
 * - `closed`: calls go through; `failures` counts the failures in a row
 * - `open`: no call goes through until `untilMs`
 * - `half-open`: one call, the probe, goes through, and its end decides; other calls are refused
 *
 * Each opening and closing begins a new generation, and a result counts in its own generation only. Calls that were in
 * flight together when a partner went down are one outage, and a late result of an older generation says nothing about
 * the present.
 */
import { type NotSentCode } from '#libs/partner-sdk/answers';
import { type Clock, type Deadline } from '#libs/platform';
import { type CallResult } from './call-result.js';
import { callDeadline, CallStopped } from './wire/call-fault.js';

export interface BreakerOptions {
  /** Failures in a row that open the circuit. */
  readonly threshold: number;
  /** First open time; doubles with each failed probe. */
  readonly firstOpenMs: number;
  readonly longestOpenMs: number;
}

export type CircuitState =
  | { readonly kind: 'closed'; readonly generation: number; readonly failures: number }
  | {
      readonly kind: 'open';
      readonly generation: number;
      /** Openings in a row, at least 1. */
      readonly openings: number;
      readonly untilMs: number;
    }
  | { readonly kind: 'half-open'; readonly generation: number; readonly openings: number };

/** Given to an admitted call, and given back once with its end. */
export interface Permit {
  readonly generation: number;
}

/** What the end of a call says about the partner; `neutral` where our side ended or refused the call. */
export type CallHealth = 'healthy' | 'failing' | 'neutral';

export type Admission =
  | { readonly admitted: true; readonly state: CircuitState; readonly permit: Permit }
  | { readonly admitted: false; readonly waitMs: number };

export const CLOSED_CIRCUIT: CircuitState = { kind: 'closed', generation: 0, failures: 0 };

export function admit(state: CircuitState, nowMs: number, options: BreakerOptions): Admission {
  switch (state.kind) {
    case 'closed':
      return { admitted: true, state, permit: { generation: state.generation } };
    case 'half-open':
      return { admitted: false, waitMs: options.firstOpenMs };
    case 'open': {
      const waitMs = state.untilMs - nowMs;
      // A wait longer than any opening means that the clock was set back: the call is let through as the probe.
      if (waitMs > 0 && waitMs <= options.longestOpenMs) return { admitted: false, waitMs };
      const generation = state.generation + 1;
      const probing = { kind: 'half-open', generation, openings: state.openings } as const;
      return { admitted: true, state: probing, permit: { generation } };
    }
  }
}

/** @param chance 0 to 1; shortens the open time by up to half, so that replicas do not return together */
export function settle(
  state: CircuitState,
  end: { readonly permit: Permit; readonly health: CallHealth },
  { nowMs, chance }: { readonly nowMs: number; readonly chance: number },
  options: BreakerOptions,
): CircuitState {
  if (end.permit.generation !== state.generation) return state;
  const generation = state.generation + 1;
  const opened = (openings: number): CircuitState => {
    const full = Math.min(options.longestOpenMs, options.firstOpenMs * 2 ** (openings - 1));
    return { kind: 'open', generation, openings, untilMs: nowMs + full * (1 - chance / 2) };
  };
  switch (state.kind) {
    case 'open':
      return state;
    case 'closed': {
      if (end.health === 'neutral') return state;
      const failures = end.health === 'healthy' ? 0 : state.failures + 1;
      return failures >= options.threshold ? opened(1) : { ...state, failures };
    }
    case 'half-open':
      if (end.health === 'healthy') return { kind: 'closed', generation, failures: 0 };
      if (end.health === 'failing') return opened(Math.min(30, state.openings + 1));
      // The probe showed nothing, so the next call is a probe as well.
      return { kind: 'open', generation, openings: state.openings, untilMs: nowMs };
  }
}

export interface ConcurrencyOptions {
  readonly maxAtOnce: number;
  readonly maxWaiting: number;
  readonly longestWaitMs: number;
}

type Waiting = () => void;

/**
 * Limits the calls that run at the same time. A bounded number of other calls wait, in order and for a bounded time.
 */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly options: ConcurrencyOptions) {}

  /**
   * Waits for a place.
   * @returns a function that gives the place back, to be called once; or why there is no place
   */
  async enter(signal?: AbortSignal): Promise<(() => void) | 'too-many-calls' | 'aborted'> {
    if (signal?.aborted === true) return 'aborted';
    const { maxAtOnce, maxWaiting, longestWaitMs } = this.options;
    if (this.running < maxAtOnce) {
      this.running++;
      return this.leaver();
    }
    if (this.waiting.size >= maxWaiting) return 'too-many-calls';
    const deadline = callDeadline(longestWaitMs, signal);
    const isOurTurn = await this.turn(deadline);
    deadline.end();
    if (isOurTurn) return this.leaver();
    const reason: unknown = deadline.signal.reason;
    return reason instanceof CallStopped && reason.why === 'aborted' ? 'aborted' : 'too-many-calls';
  }

  /** A leaving call hands its place to the call that waits longest, so that no other call can take the place. */
  private turn({ signal }: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = (): void => {
        resolve(true);
      };
      this.waiting.add(onTurn);
      signal.addEventListener('abort', () => {
        if (this.waiting.delete(onTurn)) resolve(false);
      });
    });
  }

  private leaver(): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const [next] = this.waiting;
      if (next === undefined) {
        this.running--;
        return;
      }
      this.waiting.delete(next);
      next();
    };
  }
}

export interface GateOptions extends BreakerOptions, ConcurrencyOptions {
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly random: () => number;
}

export type Passage =
  | {
      readonly open: true;
      /** To be called once, at the end of the call. */
      leave(health: CallHealth): void;
    }
  | {
      readonly open: false;
      readonly cause: 'circuit-open' | 'too-many-calls' | 'aborted';
      /** Milliseconds until the next try, where known. */
      readonly waitMs?: number;
    };

/** Stands before each call to one partner: first a place among its calls, then its circuit. */
export class PartnerGate {
  private circuit: CircuitState = CLOSED_CIRCUIT;
  private readonly limit: ConcurrencyLimit;

  constructor(private readonly options: GateOptions) {
    this.limit = new ConcurrencyLimit(options);
  }

  get state(): CircuitState['kind'] {
    return this.circuit.kind;
  }

  /** Milliseconds for which the circuit holds calls back; undefined where a call would go through. Changes nothing. */
  heldBackMs(): number | undefined {
    const admission = admit(this.circuit, this.options.clock.nowMs(), this.options);
    return admission.admitted ? undefined : admission.waitMs;
  }

  async pass(signal?: AbortSignal): Promise<Passage> {
    const place = await this.limit.enter(signal);
    if (typeof place === 'string') return { open: false, cause: place };
    const admission = admit(this.circuit, this.options.clock.nowMs(), this.options);
    if (!admission.admitted) {
      place();
      return { open: false, cause: 'circuit-open', waitMs: admission.waitMs };
    }
    this.circuit = admission.state;
    return {
      open: true,
      leave: (health) => {
        const { clock, random } = this.options;
        const end = { permit: admission.permit, health };
        const at = { nowMs: clock.nowMs(), chance: random() };
        this.circuit = settle(this.circuit, end, at, this.options);
        place();
      },
    };
  }
}

const NO_CONNECTION: readonly NotSentCode[] = [
  'dns',
  'connection-refused',
  'unreachable',
  'connect-timeout',
  'tls',
];

/**
 * What a result says about the partner. An answer that cannot be believed counts as a failure however fast it comes:
 * each such answer to a deduction leaves another deduction unresolved. A signed refusal in the interface's words is no
 * failure, except 429, which asks for fewer calls. An unsigned refusal of a balance says nothing: the interface allows
 * it, and a wallet that the partner does not know gets it as often as it asks.
 */
export function healthOf(result: CallResult): CallHealth {
  switch (result.kind) {
    case 'nothing-sent':
      return NO_CONNECTION.includes(result.cause) ? 'failing' : 'neutral';
    case 'no-answer':
      return result.cause === 'aborted' ? 'neutral' : 'failing';
    case 'answer': {
      const { status, verdict, record } = result;
      const isRefusal = status >= 400 && status < 500 && status !== 429;
      if (status !== 200 && !isRefusal) return 'failing';
      if (verdict === 'verified') return 'healthy';
      if (verdict !== 'unsigned') return 'failing';
      // The answer to a confirmation counts unsigned.
      if (record.step === 'confirm') return 'healthy';
      return record.step === 'balance' && isRefusal ? 'neutral' : 'failing';
    }
  }
}
