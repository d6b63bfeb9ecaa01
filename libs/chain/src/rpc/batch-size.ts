import { type BatchTooLargeError, RpcRefusedError } from '../errors/rpc.errors.js';
import { computeUnitsOf } from './compute-units.js';
import { type RpcCall } from './rpc-call.js';
import { type Throttle } from './throttle.js';

/** Calls in one batch to begin with: what geth, Alchemy and Ankr take. */
const FIRST_LIMIT = 1000;
/** Calls at risk in the first request: a provider with a small budget refuses a large batch whole. */
const FIRST_RISK = 25;
/** Limits seen in the field, tried one after the other where a node does not name its own. */
const STEPS = [500, 100, 50, 20, 10, 5, 3, 2];
/** A refused batch of many calls comes back in parts; smaller ones say nothing about size. */
const SMALLEST_AFTER_REFUSAL = 10;
/** The logs and the header that vouches for them need one batch of two. */
const SMALLEST = 2;

/** How many calls an endpoint takes in one request: what it said of batches, and what its rate allows. */
export class BatchSize {
  private limit = FIRST_LIMIT;
  /** A refused batch is refused with all its calls: less is risked until some were answered. */
  private risked = FIRST_RISK;

  constructor(
    private readonly endpoint: string,
    private readonly throttle: Throttle,
  ) {}

  /** The places of calls in parts of the right size; those of the first two calls stay together. */
  split(places: readonly number[], calls: readonly RpcCall[]): number[][] {
    const { heaviest } = this.throttle;
    const mostCalls = Math.min(this.limit, this.risked, heaviest.calls);
    const parts: number[][] = [];
    let part: number[] = [];
    let units = 0;
    for (const place of places) {
      const weight = computeUnitsOf(calls[place]?.method ?? '');
      const isFull = part.length >= mostCalls || units + weight > heaviest.computeUnits;
      if (part.length > 0 && isFull && place !== 1) {
        parts.push(part);
        [part, units] = [[], 0];
      }
      part.push(place);
      units += weight;
    }
    parts.push(part);
    return parts;
  }

  /** A request was refused for the rate. */
  refused(sent: number): void {
    if (sent >= 2 * SMALLEST_AFTER_REFUSAL)
      this.risked = Math.min(this.risked, Math.ceil(sent / 4));
  }

  /** A request was answered. */
  answered(sent: number): void {
    if (sent * 2 >= this.risked) this.risked = Math.min(FIRST_LIMIT, this.risked * 2);
  }

  /** @throws RpcRefusedError where not even two calls are taken together */
  lower(error: BatchTooLargeError, sent: number): void {
    if (this.limit < sent) return;
    const named = error.limit !== undefined && error.limit < sent ? error.limit : undefined;
    const next = named ?? STEPS.find((step) => step < sent) ?? 1;
    if (next < SMALLEST) {
      throw new RpcRefusedError(
        'takes no batch requests, and logs can only be vouched for together with a header; use another endpoint',
        { endpoint: this.endpoint },
      );
    }
    this.limit = next;
  }
}
