import { isTransient, RangeTooLargeError, RpcError } from '../errors/rpc.errors.js';
import { type BatchAnswer, type RpcCall, type RpcResult } from './rpc-call.js';

/** The results of a batch as they arrive. */
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

  /** @returns the places to ask for again, with the first failure */
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
    // The caller asks for less: the others are not asked for once more before.
    if (isTooLarge) return { failed: undefined, again: [] };
    const [failed] = failures.values();
    const first = failures.has(0) || failures.has(1);
    const again = places.filter((place) => failures.has(place) || (first && place < 2));
    return { failed, again };
  }
}
