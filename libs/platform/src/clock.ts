/** The wall clock. All code reads the time through it, so that a test can set the time. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

export const CLOCK = Symbol('Clock');
