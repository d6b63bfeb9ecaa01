/** How a provider behaves. All parts work together; what is left out does not happen. Shares are 0 to 1. */
import { type BloomFault } from './replay-chain.js';

/** `http`: the whole request is refused. `call`: single calls are, with errors in the batch's answer, as Alchemy does it. */
export type RefusalStyle = 'http' | 'call';

export interface RandomRefusals {
  /** Of requests, or of calls in the style `call`. */
  readonly tooMany?: number;
  readonly unavailable?: number;
  readonly style?: RefusalStyle;
  readonly retryAfterSeconds?: number;
}

export interface ComputeBudget {
  readonly unitsPerSecond: number;
  /** What may be spent at once, in seconds of the budget; default 1. */
  readonly burstSeconds?: number;
  readonly style?: RefusalStyle;
  /** Refusals say in Retry-After when there will be enough. */
  readonly retryAfter?: boolean;
}

/** `alchemy` proposes a range, `quicknode` names the limit, `plain` only says that it is too much. */
export type CapStyle = 'alchemy' | 'quicknode' | 'plain';

export interface BatchCap {
  readonly calls: number;
  /** `object`: one error object. `first`: a list with one error, as geth does it. `rest`: errors for the calls beyond the cap. */
  readonly style: 'object' | 'first' | 'rest';
}

export type DroppedLogs =
  | { readonly kind: 'half-of-one-in-ten' }
  /** One log of the followed contract, always the same: the `nth` event of the history, or its last. */
  | { readonly kind: 'one'; readonly nth: number; readonly inReceipts?: boolean };

export interface Outage {
  readonly afterRequests: number;
  readonly how: 'reset' | 'hang' | 'unavailable';
  /** Then it is back; without it, it is gone for good. */
  readonly forMs?: number;
}

export type RubbishKind = 'html' | 'truncated' | 'huge' | 'wrong-ids' | 'error-object' | 'silent';

export interface Rubbish {
  readonly kinds: readonly RubbishKind[];
  /** Of requests. */
  readonly share: number;
}

export interface ProviderBehaviour {
  /** Of the random choices. */
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
  /** State of the newest 128 blocks only. */
  readonly pruned?: boolean;
  /** Methods that do not exist. */
  readonly without?: readonly string[];
  /** eth_call takes no `{ blockHash }`. */
  readonly noHashCalls?: boolean;
}
