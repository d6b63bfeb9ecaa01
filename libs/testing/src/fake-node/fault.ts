import { type NodeCall } from './node-call.js';

export interface FaultScope {
  /** How many requests it touches before it is over; without it, all. A request it finds nothing to do in does not count. */
  readonly times?: number;
  /** Only requests whose calls fulfil this. */
  readonly when?: (calls: readonly NodeCall[]) => boolean;
}

/** What goes wrong on the way, with any request. */
export type WireFault =
  | { readonly kind: 'never-answers' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Headers at once, then the body a few bytes at a time. */
  | { readonly kind: 'trickle'; readonly bytesPerSecond?: number }
  /** The connection is closed without an answer. */
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** Seconds, or an HTTP date. */
      readonly retryAfter?: number | string;
      readonly body?: string;
    }
  | { readonly kind: 'wrong-json' }
  /** A 200 with a web page. */
  | { readonly kind: 'html' }
  | { readonly kind: 'empty-body' }
  /** Half the body, then the connection is closed. */
  | { readonly kind: 'truncated-body' }
  /** The right answer, with white space up to this size. */
  | { readonly kind: 'oversized-body'; readonly bytes: number }
  /** White space without an announced length, as fast as it is taken; `sent` counts what was. */
  | { readonly kind: 'flood'; readonly bytes: number; readonly sent: { bytes: number } };

/** What goes wrong with the list of answers. */
export type BatchFault =
  /** One error object instead of a list. */
  | { readonly kind: 'single-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'out-of-order' }
  /** The answer to the call of this index (default: the last) is missing. */
  | { readonly kind: 'missing-answer'; readonly index?: number }
  | { readonly kind: 'wrong-ids' }
  /** More calls than this are refused, as geth does it (an error for the first call only) or with one error object. */
  | { readonly kind: 'batch-limit'; readonly limit: number; readonly style?: 'geth' | 'object' };

/** What goes wrong with the answer to a call. */
export type CallFault =
  | {
      readonly kind: 'error';
      readonly method: string;
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
      /** Only these of the calls of the method. */
      readonly only?: (call: NodeCall) => boolean;
    }
  | {
      readonly kind: 'result';
      readonly method: string;
      readonly result: unknown;
      /** Only to these of the calls of the method. */
      readonly only?: (call: NodeCall) => boolean;
    }
  /** eth_getLogs over more blocks is refused. */
  | {
      readonly kind: 'range-limit';
      readonly blocks: number;
      readonly error?: (
        from: bigint,
        to: bigint,
      ) => { code: number; message: string; data?: unknown };
    }
  | { readonly kind: 'chain-id'; readonly chainId: number }
  | { readonly kind: 'no-method'; readonly method: string }
  /** eth_call fails for want of state. */
  | { readonly kind: 'pruned' }
  /** eth_call takes no `{ blockHash }`. */
  | { readonly kind: 'no-block-hash-calls' }
  /** eth_call and eth_estimateGas need a `to`, as on a ZK Stack chain without the EVM emulator. */
  | { readonly kind: 'no-deployless-calls' };

/** What goes wrong with the blocks and logs. */
export type ChainFault =
  /** What the test makes of a call's result; undefined leaves it as it is. */
  | {
      readonly kind: 'lie';
      readonly change: (call: NodeCall, result: unknown) => unknown;
    }
  /** The node is so many blocks behind: no newer blocks, `[]` for their logs, errors for their hashes. */
  | { readonly kind: 'lagging'; readonly blocks: bigint }
  /** eth_getLogs answers `[]`; the headers are right. */
  | { readonly kind: 'empty-logs' }
  /** One log is left out: the first of `block`, else the one in the middle of the answer. */
  | { readonly kind: 'drop-one-log'; readonly block?: bigint; readonly receiptsToo?: boolean }
  /** All logs of `block` are left out, else those of the block in the middle of the answer. */
  | { readonly kind: 'drop-block-logs'; readonly block?: bigint; readonly receiptsToo?: boolean }
  /** A log's data is altered: one more of the token's smallest unit. */
  | { readonly kind: 'altered-amount'; readonly block?: bigint }
  /** The logs name another block hash than the headers. */
  | { readonly kind: 'other-fork-logs' }
  | { readonly kind: 'duplicate-log' }
  | { readonly kind: 'unordered-logs' }
  | { readonly kind: 'removed-log' }
  /** A log says that it is from the block after the range. */
  | { readonly kind: 'log-out-of-range' }
  | { readonly kind: 'no-log-timestamps' }
  | { readonly kind: 'wrong-log-timestamps' }
  | { readonly kind: 'zero-blooms' }
  /** Every bloom speaks of every event. */
  | { readonly kind: 'full-blooms' }
  /** The header of `block` names another parent. */
  | { readonly kind: 'broken-chain'; readonly block: bigint }
  /** What the node answers for the tags `finalized` and `safe` is shifted, and has these fields instead of its own. */
  | {
      readonly kind: 'false-final';
      readonly seconds?: number;
      readonly blocks?: bigint;
      readonly fields?: Readonly<Record<string, unknown>>;
    }
  /** The node holds so many blocks fewer final, and is right about those. */
  | { readonly kind: 'late-final'; readonly blocks: bigint }
  /** Headers lack the field `extraData`: their hash is that of something else, as on chains whose headers have another form. */
  | { readonly kind: 'other-format' }
  /** Every header is of a time that is shifted by so many seconds. */
  | { readonly kind: 'false-times'; readonly seconds: number };

export type Fault = (WireFault | BatchFault | CallFault | ChainFault) & FaultScope;

type Layer = 'instead' | 'body' | 'batch' | 'call' | 'chain';

/** Where each fault sets in: instead of an answer, in the body's bytes, the list of answers, an answer, the chain's data. */
export const LAYERS: Readonly<Record<Fault['kind'], Layer>> = {
  'never-answers': 'instead',
  delay: 'instead',
  reset: 'instead',
  status: 'instead',
  trickle: 'body',
  'wrong-json': 'body',
  html: 'body',
  'empty-body': 'body',
  'truncated-body': 'body',
  'oversized-body': 'body',
  flood: 'body',
  'single-error': 'batch',
  'out-of-order': 'batch',
  'missing-answer': 'batch',
  'wrong-ids': 'batch',
  'batch-limit': 'batch',
  error: 'call',
  result: 'call',
  'range-limit': 'call',
  'chain-id': 'call',
  'no-method': 'call',
  pruned: 'call',
  'no-block-hash-calls': 'call',
  'no-deployless-calls': 'call',
  lie: 'chain',
  lagging: 'chain',
  'empty-logs': 'chain',
  'drop-one-log': 'chain',
  'drop-block-logs': 'chain',
  'altered-amount': 'chain',
  'other-fork-logs': 'chain',
  'duplicate-log': 'chain',
  'unordered-logs': 'chain',
  'removed-log': 'chain',
  'log-out-of-range': 'chain',
  'no-log-timestamps': 'chain',
  'wrong-log-timestamps': 'chain',
  'zero-blooms': 'chain',
  'full-blooms': 'chain',
  'broken-chain': 'chain',
  'false-final': 'chain',
  'late-final': 'chain',
  'other-format': 'chain',
  'false-times': 'chain',
};
