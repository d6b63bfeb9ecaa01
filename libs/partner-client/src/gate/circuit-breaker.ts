/**
 * When to stop calling a partner that does not answer properly. Pure: a state, a time and a random number in, a state out.
 *
 * - `closed`: calls go through; `failures` counts those that failed in a row
 * - `open`: none goes through until `untilMs`
 * - `half-open`: one call, the probe, goes through; its end decides. Others wait for it.
 *
 * Each opening and closing begins a new generation, and a result counts in its own only: calls in flight together when a partner
 * goes down are one outage, and what comes back from before says nothing about now.
 */

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly threshold: number;
  /** The first time it stays open; doubles with each probe that fails. */
  readonly firstOpenMs: number;
  readonly longestOpenMs: number;
}

export type CircuitState =
  | { readonly kind: 'closed'; readonly generation: number; readonly failures: number }
  | {
      readonly kind: 'open';
      readonly generation: number;
      /** How often in a row, at least 1. */
      readonly openings: number;
      readonly untilMs: number;
    }
  | { readonly kind: 'half-open'; readonly generation: number; readonly openings: number };

/** To be handed back with the call's end, once. */
export interface Permit {
  readonly generation: number;
}

/** What a call's end says about the partner: nothing, where we ended or refused it ourselves. */
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
      // A wait that no opening asks for: the clock was set back.
      if (waitMs > 0 && waitMs <= options.longestOpenMs) return { admitted: false, waitMs };
      const generation = state.generation + 1;
      const probing = { kind: 'half-open', generation, openings: state.openings } as const;
      return { admitted: true, state: probing, permit: { generation } };
    }
  }
}

/** @param chance 0 to 1; shortens the time it stays open by up to half, so that replicas do not return together */
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
      // The probe said nothing: the next call is another.
      return { kind: 'open', generation, openings: state.openings, untilMs: nowMs };
  }
}
