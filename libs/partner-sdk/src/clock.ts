/** Source of the current time, which a test can replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
