import { type BatchTooLargeError, RpcRefusedError } from '../errors/rpc.errors.js';
import { computeUnitsOf } from './compute-units.js';
import { type RpcCall } from './rpc-call.js';
import { type Throttle } from './throttle.js';

/** Calls in one batch to begin with: what geth, Alchemy and Ankr take. */
const FIRST_LIMIT = 1000;
/** Limits seen in the field, tried one after the other where a node does not name its own. */
const STEPS = [500, 100, 50, 20, 10, 5, 3, 2];
/** The logs and the header that vouches for them need one batch of two. */
const SMALLEST = 2;

/** How many calls an endpoint takes in one request: what it said of batches, and what its rate allows. */
export class BatchSize {
  private limit = FIRST_LIMIT;

  constructor(
    private readonly endpoint: string,
    private readonly throttle: Throttle,
  ) {}

  /** The places of calls in parts of the right size; those of the first two calls stay together. */
  split(places: readonly number[], calls: readonly RpcCall[]): number[][] {
    const { heaviest } = this.throttle;
    const mostCalls = Math.min(this.limit, heaviest.calls);
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
