import { type Clock } from '#libs/platform';
import {
  admit,
  type BreakerOptions,
  type CallHealth,
  type CircuitState,
  CLOSED_CIRCUIT,
  settle,
} from './circuit-breaker.js';
import { ConcurrencyLimit, type ConcurrencyOptions } from './concurrency-limit.js';

export interface GateOptions extends BreakerOptions, ConcurrencyOptions {
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

export type Passage =
  | {
      readonly open: true;
      /** To be called at the call's end, once. */
      leave(health: CallHealth): void;
    }
  | {
      readonly open: false;
      readonly cause: 'circuit-open' | 'too-many-calls' | 'aborted';
      /** Where it is known when to try again. */
      readonly waitMs?: number;
    };

/** What stands before each call to one partner: a place among its calls, then its circuit. */
export class PartnerGate {
  private circuit: CircuitState = CLOSED_CIRCUIT;
  private readonly limit: ConcurrencyLimit;

  constructor(private readonly options: GateOptions) {
    this.limit = new ConcurrencyLimit(options);
  }

  get state(): CircuitState['kind'] {
    return this.circuit.kind;
  }

  /** For how long calls are held back from now on; undefined where one would be let through. Nothing changes by asking. */
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
