/** What a batch of calls has brought so far (`BatchResults`), and how large it may be (`BatchSize`). */
import {
  type BatchTooLargeError,
  isTransient,
  RangeTooLargeError,
  RpcError,
  RpcRefusedError,
} from './rpc.errors.js';
import { type BatchAnswer, computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';
import { type Rate } from './rate.js';

/**
 * The results of a batch, kept while the calls that failed are sent again. A call is named by its place: its index in
 * `calls`.
 */
export class BatchResults {
  private readonly results: (RpcResult | undefined)[];
  private bytes = 0;

  constructor(readonly calls: readonly RpcCall[]) {
    this.results = new Array<RpcResult | undefined>(calls.length).fill(undefined);
  }

  get all(): number[] {
    return [...this.calls.keys()];
  }

  get answer(): BatchAnswer {
    return { results: this.results as RpcResult[], bytes: this.bytes };
  }

  callsOf(places: readonly number[]): RpcCall[] {
    return places.map((place) => this.calls[place] as RpcCall);
  }

  /** @returns the places to request again, and the first failure */
  keep(
    places: readonly number[],
    { results, bytes }: BatchAnswer,
  ): { readonly failed: RpcError | undefined; readonly again: readonly number[] } {
    this.bytes += bytes;
    const failures = new Map<number, RpcError>();
    let isTooLarge = false;
    for (const [index, place] of places.entries()) {
      const result = results[index];
      this.results[place] = result;
      if (!result || result.ok) continue;
      isTooLarge ||= result.error instanceof RangeTooLargeError;
      const { error } = result;
      if (error instanceof RpcError && isTransient(error)) failures.set(place, error);
    }
    // The caller asks for a smaller range, so the other calls are not retried before.
    if (isTooLarge) return { failed: undefined, again: [] };
    const [failed] = failures.values();
    // The first two calls count only together.
    const ofFirstTwo = failures.has(0) || failures.has(1);
    const again = places.filter((place) => failures.has(place) || (ofFirstTwo && place < 2));
    return { failed, again };
  }
}

/** Most calls in one batch at the start: the limit of geth, Alchemy and Ankr. */
const FIRST_LIMIT = 1000;
/** Most calls in the first request, because a provider with a small budget refuses a large batch as a whole. */
const FIRST_RISK = 25;
/** Limits of nodes in the field, tried one after the other if a node does not name its own limit. */
const STEPS = [500, 100, 50, 20, 10, 5, 3, 2];
/** A rate limit on fewer calls than twice this number says nothing about the size of the batch. */
const SMALLEST_AFTER_REFUSAL = 10;
/** A limit that was guessed from broken batches is raised by one step after so many batches of this size. */
const RAISED_AFTER = 500;
/** Calls of the smallest batch: the logs and the header that vouches for them. */
export const SMALLEST_BATCH = 2;

export const TAKES_NO_BATCHES =
  'takes no batch requests, and logs can only be vouched for together with a header; use another endpoint';

/** How many calls an endpoint accepts in one request, by its limit for batches and by its rate. */
export class BatchSize {
  private limit = FIRST_LIMIT;
  /**
   * Most calls that are risked in one request, because a rate limit refuses a batch with all its calls. Few at first
   * and after a rate limit; doubles when a batch of at least half this size is answered.
   */
  private risked = FIRST_RISK;
  /** Answered batches as large as the guessed limit; undefined if the node named the limit, or there is none. */
  private atGuess: number | undefined;

  constructor(
    private readonly endpoint: string,
    private readonly rate: Rate,
  ) {}

  /** Splits the places of calls into parts of the right size; the first two calls stay together. */
  split(places: readonly number[], calls: readonly RpcCall[]): number[][] {
    const { heaviest } = this.rate;
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

  refused(sent: number): void {
    if (sent >= 2 * SMALLEST_AFTER_REFUSAL)
      this.risked = Math.min(this.risked, Math.ceil(sent / 4));
  }

  answered(sent: number): void {
    if (sent * 2 >= this.risked) this.risked = Math.min(FIRST_LIMIT, this.risked * 2);
    if (this.atGuess === undefined || sent < this.limit) return;
    this.atGuess++;
    if (this.atGuess < RAISED_AFTER) return;
    this.limit = STEPS.findLast((step) => step > this.limit) ?? FIRST_LIMIT;
    this.atGuess = this.limit < FIRST_LIMIT ? 0 : undefined;
  }

  /** Batches of so many calls broke, while small ones were answered: perhaps because of a limit, perhaps by chance. */
  broke(sent: number): void {
    if (this.limit < sent) return;
    this.limit = STEPS.find((step) => step < sent) ?? SMALLEST_BATCH;
    this.atGuess = 0;
  }

  /** @throws RpcRefusedError if not even two calls are accepted together */
  lower(error: BatchTooLargeError, sent: number): void {
    if (this.limit < sent) return;
    const named = error.limit !== undefined && error.limit < sent ? error.limit : undefined;
    const next = named ?? STEPS.find((step) => step < sent) ?? 1;
    if (next < SMALLEST_BATCH) {
      throw new RpcRefusedError(TAKES_NO_BATCHES, { endpoint: this.endpoint });
    }
    this.limit = next;
    this.atGuess = undefined;
  }
}
