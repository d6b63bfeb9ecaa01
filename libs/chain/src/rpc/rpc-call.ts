import { type ExecutionRevertedError, type RpcError } from '../errors/rpc.errors.js';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The answer to one call of a batch. */
export type RpcResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: RpcError | ExecutionRevertedError };

export interface BatchAnswer {
  /** In the order of the calls. */
  readonly results: readonly RpcResult[];
  /** Of all bodies together, decoded. */
  readonly bytes: number;
}

/** The value of an answer. @throws its error */
export function valueOf(result: RpcResult | undefined): unknown {
  if (!result) throw new RangeError('no such call in the batch');
  if (!result.ok) throw result.error;
  return result.value;
}
