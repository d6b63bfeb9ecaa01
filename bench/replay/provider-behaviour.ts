/**
 * How a simulated provider behaves. All parts work together, and a part that is left out has no effect. Shares are from
 * 0 to 1.
 */
import { type BloomFault } from './replay-chain.js';

/** `http` refuses the whole request. `call` refuses single calls with errors in the batch's answer, as Alchemy does. */
export type RefusalStyle = 'http' | 'call';

export interface RandomRefusals {
  /** Share of the requests, or with style `call` of the calls, that are refused with 429. */
  readonly tooMany?: number;
  readonly unavailable?: number;
  readonly style?: RefusalStyle;
  readonly retryAfterSeconds?: number;
}

export interface ComputeBudget {
  readonly unitsPerSecond: number;
  /** Size of the token bucket, in seconds of the budget; default 1. */
  readonly burstSeconds?: number;
  readonly style?: RefusalStyle;
  /** Whether refusals carry a Retry-After header with the time until the budget suffices. */
  readonly retryAfter?: boolean;
}

/**
 * The error text: `alchemy` proposes a range, `quicknode` names the limit, `plain` only says that the range is too
 * wide.
 */
export type CapStyle = 'alchemy' | 'quicknode' | 'plain';

export interface BatchCap {
  readonly calls: number;
  /**
   * `object`: one error object. `first`: a list with one error, as geth does. `rest`: errors for the calls beyond the
   * cap.
   */
  readonly style: 'object' | 'first' | 'rest';
}

export type DroppedLogs =
  | { readonly kind: 'half-of-one-in-ten' }
  /** Leaves out one log of the followed contract, always the same: the `nth` event of the history, or its last. */
  | { readonly kind: 'one'; readonly nth: number; readonly inReceipts?: boolean };

export interface Outage {
  readonly afterRequests: number;
  readonly how: 'reset' | 'hang' | 'unavailable';
  /** Length of the outage in milliseconds; unlimited by default. */
  readonly forMs?: number;
}

export type RubbishKind = 'html' | 'truncated' | 'huge' | 'wrong-ids' | 'error-object';

export interface Rubbish {
  readonly kinds: readonly RubbishKind[];
  /** Share of the requests that get rubbish. */
  readonly share: number;
}

export interface ProviderBehaviour {
  readonly seed?: number;
  readonly latencyMs?: number;
  readonly refusals?: RandomRefusals;
  readonly budget?: ComputeBudget;
  readonly rangeCap?: { readonly blocks: number; readonly style: CapStyle };
  readonly resultCap?: { readonly logs: number };
  readonly batchCap?: BatchCap;
  readonly drops?: DroppedLogs;
  readonly blooms?: BloomFault;
  readonly outage?: Outage;
  readonly rubbish?: Rubbish;
  /** The provider has the state of the newest 128 blocks only. */
  readonly pruned?: boolean;
  /** Methods that the provider does not support. */
  readonly without?: readonly string[];
  /** eth_call does not accept `{ blockHash }`. */
  readonly noHashCalls?: boolean;
}
