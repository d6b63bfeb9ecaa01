import { type NodeCall } from './node-call.js';

export interface FaultScope {
  /**
   * Number of requests that the fault changes before it ends; unlimited by default. Requests that the fault leaves
   * unchanged do not count.
   */
  readonly times?: number;
  /** Limits the fault to requests whose calls fulfil this condition. */
  readonly when?: (calls: readonly NodeCall[]) => boolean;
}

/** Faults of the transport, in the place of an answer. They apply to any request. */
type InsteadFault =
  | { readonly kind: 'never-answers' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Closes the connection without an answer. */
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** Value of the header Retry-After: seconds, or an HTTP date. */
      readonly retryAfter?: number | string;
      readonly body?: string;
    };

/** Faults in the bytes of an answer. */
export type BodyFault =
  /** Sends the headers at once, then a byte a second. */
  | { readonly kind: 'trickle' }
  | { readonly kind: 'wrong-json' }
  /** Answers with status 200 and a web page. */
  | { readonly kind: 'html' }
  | { readonly kind: 'empty-body' }
  /** Sends half of the body, then closes the connection. */
  | { readonly kind: 'truncated-body' }
  /** Sends the right answer in gzip, and names the coding so. */
  | { readonly kind: 'coded'; readonly coding: string }
  /** Sends an answer that holds an error with this status. */
  | { readonly kind: 'status-of-errors'; readonly status: number }
  /** Sends the right answer, padded with white space to this size in bytes. */
  | { readonly kind: 'oversized-body'; readonly bytes: number }
  /** Sends white space without a Content-Length, as fast as the client reads; `sent` counts the bytes written. */
  | { readonly kind: 'flood'; readonly bytes: number; readonly sent: { bytes: number } };

/** Faults in the list of answers to a batch. */
export type BatchFault =
  /** Answers with one error object instead of a list. */
  | { readonly kind: 'single-error'; readonly code: number; readonly message: string }
  | { readonly kind: 'out-of-order' }
  /** Leaves out the answer to the call with this index (default: the last). */
  | { readonly kind: 'missing-answer'; readonly index?: number }
  | { readonly kind: 'wrong-ids' }
  /**
   * Refuses batches with more calls than `limit`: as geth does, with a list that has an error for the first call only,
   * or with one error object.
   */
  | { readonly kind: 'batch-limit'; readonly limit: number; readonly style?: 'geth' | 'object' };

/** Faults in the answer to a single call. */
export type CallFault =
  | {
      readonly kind: 'error';
      readonly method: string;
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
      /** Limits the fault to the calls of the method that fulfil this condition. */
      readonly only?: (call: NodeCall) => boolean;
    }
  | {
      readonly kind: 'result';
      readonly method: string;
      readonly result: unknown;
      /** Limits the fault to the calls of the method that fulfil this condition. */
      readonly only?: (call: NodeCall) => boolean;
    }
  /** Refuses eth_getLogs over more than `blocks` blocks. */
  | {
      readonly kind: 'range-limit';
      readonly blocks: number;
      readonly error?: (
        from: bigint,
        to: bigint,
      ) => { code: number; message: string; data?: unknown };
    }
  /** Refuses answers of eth_getLogs with more than `logs` logs. */
  | {
      readonly kind: 'result-limit';
      readonly logs: number;
      readonly error: { readonly code: number; readonly message: string };
    }
  | { readonly kind: 'chain-id'; readonly chainId: number }
  | { readonly kind: 'no-method'; readonly method: string }
  /** eth_call fails because the node has pruned the state. */
  | { readonly kind: 'pruned' }
  /** eth_call does not accept `{ blockHash }`. */
  | { readonly kind: 'no-block-hash-calls' }
  /** eth_call and eth_estimateGas require a `to`, as on a ZK Stack chain without the EVM emulator. */
  | { readonly kind: 'no-deployless-calls' };

/** Faults in the logs. */
export type LogFault =
  /** eth_getLogs answers `[]`, while the headers are right. */
  | { readonly kind: 'empty-logs' }
  /** Leaves out one log: the first one of `block`, by default the one in the middle of the answer. */
  | { readonly kind: 'drop-one-log'; readonly block?: bigint; readonly receiptsToo?: boolean }
  /** Leaves out all logs of `block`, by default those of the block in the middle of the answer. */
  | { readonly kind: 'drop-block-logs'; readonly block?: bigint; readonly receiptsToo?: boolean }
  /** Adds one of the token's smallest unit to the amount of a log. */
  | { readonly kind: 'altered-amount'; readonly block?: bigint }
  /** The logs name another block hash than the headers do. */
  | { readonly kind: 'other-fork-logs' }
  | { readonly kind: 'duplicate-log' }
  | { readonly kind: 'unordered-logs' }
  | { readonly kind: 'removed-log' }
  /** The last log names the block after the requested range. */
  | { readonly kind: 'log-out-of-range' }
  | { readonly kind: 'no-log-timestamps' }
  | { readonly kind: 'wrong-log-timestamps' };

/** Faults in the blocks. */
export type BlockFault =
  /** Replaces the result of a call with what `change` returns; undefined leaves the result unchanged. */
  | {
      readonly kind: 'lie';
      readonly change: (call: NodeCall, result: unknown) => unknown;
    }
  /**
   * The node is `blocks` blocks behind: it returns no newer blocks, `[]` for their logs, and errors for their hashes.
   */
  | { readonly kind: 'lagging'; readonly blocks: bigint }
  | { readonly kind: 'zero-blooms' }
  /** Every bloom matches every event. */
  | { readonly kind: 'full-blooms' }
  /** The header of `block` names another parent. */
  | { readonly kind: 'broken-chain'; readonly block: bigint }
  /**
   * Shifts time and number of the blocks that the node returns for the tags `finalized` and `safe`, and replaces these
   * fields.
   */
  | {
      readonly kind: 'false-final';
      readonly seconds?: number;
      readonly blocks?: bigint;
      readonly fields?: Readonly<Record<string, unknown>>;
    }
  /** Reports a finalised block that is `blocks` blocks lower, with its right contents. */
  | { readonly kind: 'late-final'; readonly blocks: bigint }
  /**
   * Headers lack the field `extraData`, so that their hash cannot be reproduced, as on chains with another header
   * format.
   */
  | { readonly kind: 'other-format' }
  /** Shifts the time of every header by `seconds` seconds. */
  | { readonly kind: 'false-times'; readonly seconds: number };

export type ChainFault = LogFault | BlockFault;

export type Fault = (InsteadFault | BodyFault | BatchFault | CallFault | ChainFault) & FaultScope;

type Layer = 'instead' | 'body' | 'batch' | 'call' | 'chain';

/**
 * The layer at which a fault applies: instead of an answer, to the body's bytes, to the list of answers, to one
 * answer, or to the chain's data.
 */
export function layerOf({ kind }: Fault): Layer {
  return kind in LAYERS ? LAYERS[kind as keyof typeof LAYERS] : 'chain';
}

const LAYERS: Readonly<Record<Exclude<Fault['kind'], ChainFault['kind']>, Layer>> = {
  'never-answers': 'instead',
  delay: 'instead',
  reset: 'instead',
  status: 'instead',
  trickle: 'body',
  'wrong-json': 'body',
  html: 'body',
  'empty-body': 'body',
  'truncated-body': 'body',
  coded: 'body',
  'status-of-errors': 'body',
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
  'result-limit': 'call',
  'chain-id': 'call',
  'no-method': 'call',
  pruned: 'call',
  'no-block-hash-calls': 'call',
  'no-deployless-calls': 'call',
};
