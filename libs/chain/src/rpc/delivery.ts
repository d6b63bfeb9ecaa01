/** How fast an endpoint delivers, from its last answers. */
const WEIGHT = 0.2;
/** What a failed request costs beside its own time: it is asked again after a wait. */
const FAILURE_MS = 500;
/** The share of failures below which the next try is likely to succeed. */
const RARELY = 0.4;
/** A figure that is not renewed loses half of its weight in this time, so that a slow endpoint is tried again now and then. */
const HALF_LIFE_MS = 30_000;
/** Endpoints that differ by less are equal. */
const NEAR_MS = 25;
const NEAR_SHARE = 1.25;

export class Delivery {
  private meanMs = 0;
  private failed = 0;
  private samples = 0;
  private lastMs = 0;

  note(tookMs: number, failed: boolean, nowMs: number): void {
    const weight = this.samples++ === 0 ? 1 : WEIGHT;
    // A refusal comes fast and delivers nothing.
    if (!failed) this.meanMs += (tookMs - this.meanMs) * (this.meanMs === 0 ? 1 : weight);
    this.failed += ((failed ? 1 : 0) - this.failed) * weight;
    this.lastMs = nowMs;
  }

  /** Bad luck now and then, no trouble. */
  get failsRarely(): boolean {
    return this.failed < RARELY;
  }

  get latencyMs(): number {
    return this.meanMs;
  }

  /** For one request with `before` others in the queue; of an endpoint that was never asked, 0: it is worth a try. */
  expectedMs(before: number, nowMs: number): number {
    const fresh = 0.5 ** (Math.max(0, nowMs - this.lastMs) / HALF_LIFE_MS);
    return (before + 1) * (this.meanMs + this.failed * FAILURE_MS) * fresh;
  }
}

export interface Candidate {
  readonly delivery: Delivery;
  /** Questions that it works on. */
  readonly questions: number;
  readonly hasFreeSlot: boolean;
}

/** @returns the one to ask: with a free slot if any has one, the first of those that deliver about equally fast, else the fastest */
export function fastest<T extends Candidate>(all: readonly T[], nowMs: number): T | undefined {
  const free = all.filter((one) => one.hasFreeSlot);
  const candidates = free.length > 0 ? free : all;
  const expected = (one: T): number => one.delivery.expectedMs(one.questions, nowMs);
  const best = Math.min(...candidates.map(expected));
  const near = Math.max(NEAR_MS, best * NEAR_SHARE);
  const idle = candidates.find((one) => one.questions === 0 && expected(one) <= near);
  if (idle) return idle;
  const least = [...candidates].sort(
    (a, b) => expected(a) - expected(b) || a.questions - b.questions,
  );
  return least[0];
}
