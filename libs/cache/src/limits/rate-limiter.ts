/** How fast one caller may go. */
export interface RatePolicy {
  /** Requests per second in the long run. */
  readonly rate: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** What the limiter says to one request; the figures are sent as `X-RateLimit-*`. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** The policy's burst. */
  readonly limit: number;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Until `remaining` equals `limit` again. */
  readonly resetSeconds: number;
  /** Until the next request is allowed; 0 where this one is. */
  readonly retryAfterSeconds: number;
}

/** Counts requests per key. In this process, or shared between replicas. */
export interface RateLimiter {
  take(key: string, policy: RatePolicy): RateVerdict | Promise<RateVerdict>;
  /** Undoes a `take` that turned out to be on somebody else's account. */
  giveBack(key: string, policy: RatePolicy): void | Promise<void>;
}
