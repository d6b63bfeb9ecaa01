import { ExecutionRevertedError, type RpcError } from './rpc.errors.js';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Makes the reader of a result that may be a long list. The value of the answer is the reader, or the list. */
  readonly reader?: () => ListReader;
}

/** Reads a list while it is parsed, so that its elements do not have to be in memory together. */
export interface ListReader {
  /** @returns false if the reader needs the list as a whole, which then is the value of the answer */
  read(element: unknown): boolean;
}

/** The name of the endpoint that a value or an error comes from. */
export interface AtEndpoint {
  readonly endpoint: string;
}

export type RpcResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: RpcError | ExecutionRevertedError };

export interface BatchAnswer {
  /** In the order of the calls. */
  readonly results: readonly RpcResult[];
  /** Decoded bytes of all bodies together. */
  readonly bytes: number;
}

/** The value of an answer. @throws the error of the answer */
export function valueOf(result: RpcResult | undefined): unknown {
  if (!result) throw new RangeError('no such call in the batch');
  if (!result.ok) throw result.error;
  return result.value;
}

export function isReverted(result: RpcResult | undefined): boolean {
  return result?.ok === false && result.error instanceof ExecutionRevertedError;
}

/**
 * Compute units of a call, in which providers bill and limit. The figures are those of Alchemy's price list, which
 * other providers follow closely. Where its editions differ (eth_getLogs 75 and 60, eth_getBlockByNumber 16 and 20) the
 * edition in which logs weigh more is used, so that no plan is too cheap. Sources:
 * docs.alchemyapi.io/documentation/compute-units and www.alchemy.com/docs/reference/compute-unit-costs
 * (eth_getBlockReceipts: 20).
 */
const COMPUTE_UNITS: Readonly<Record<string, number>> = {
  eth_blockNumber: 10,
  eth_call: 26,
  eth_chainId: 10,
  eth_estimateGas: 87,
  eth_gasPrice: 19,
  eth_getBalance: 19,
  eth_getBlockByHash: 21,
  eth_getBlockByNumber: 16,
  eth_getBlockReceipts: 20,
  eth_getCode: 19,
  eth_getLogs: 75,
  eth_getStorageAt: 17,
  eth_getTransactionByHash: 17,
  eth_getTransactionCount: 26,
  eth_getTransactionReceipt: 15,
  eth_maxPriorityFeePerGas: 10,
  eth_sendRawTransaction: 250,
};

/** Compute units of a method that is not listed; most of these methods cost no more. */
const OTHERS = 20;

export function computeUnitsOf(method: string): number {
  return COMPUTE_UNITS[method] ?? OTHERS;
}
