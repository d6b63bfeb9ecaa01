import { type RpcCall, type RpcResult } from '../rpc/rpc-call.js';

/** The contracts' total as a part of a larger request. */
export interface TotalCalls {
  /** @param block its number as a quantity, or a tag */
  at(block: string): RpcCall[];
  /** @returns undefined where one of the answers is none */
  sumOf(results: readonly RpcResult[]): bigint | undefined;
}
