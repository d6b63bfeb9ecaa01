/** The wall clock: the only way to read the time, so that a test can set it. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** The Nest token of the Clock. */
export const CLOCK = Symbol('Clock');
