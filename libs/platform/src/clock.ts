/** The wall clock. All code reads the time through it, so that a test can set the time. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Nest's injection token of the Clock. */
export const CLOCK = Symbol('Clock');
