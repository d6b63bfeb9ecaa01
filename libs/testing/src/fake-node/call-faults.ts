import { type BatchFault, type CallFault } from './fault.js';
import { type NodeAnswer, type NodeCall } from './node-call.js';

/** Applies a fault to the answers in place. @returns whether the fault changed an answer */
export function applyCallFault(
  fault: CallFault,
  calls: readonly NodeCall[],
  answers: NodeAnswer[],
): boolean {
  let touched = false;
  for (const [index, call] of calls.entries()) {
    const replaced = replacement(fault, call, answers[index]?.result);
    if (!replaced) continue;
    touched = true;
    answers[index] = { jsonrpc: '2.0', id: call.id, ...replaced };
  }
  return touched;
}

type Replacement = Pick<NodeAnswer, 'result' | 'error'>;

function replacement(fault: CallFault, call: NodeCall, result: unknown): Replacement | undefined {
  const { method, params } = call;
  switch (fault.kind) {
    case 'error': {
      const { code, message, data } = fault;
      if (fault.method !== method || fault.only?.(call) === false) return undefined;
      return { error: { code, message, data } };
    }
    case 'result':
      if (fault.method !== method || fault.only?.(call) === false) return undefined;
      return { result: fault.result };
    case 'range-limit':
      return method === 'eth_getLogs' ? rangeError(fault, params[0]) : undefined;
    case 'result-limit':
      return Array.isArray(result) && method === 'eth_getLogs' && result.length > fault.logs
        ? { error: fault.error }
        : undefined;
    case 'chain-id':
      return method === 'eth_chainId' ? { result: `0x${fault.chainId.toString(16)}` } : undefined;
    case 'no-method':
      if (fault.method !== method) return undefined;
      return {
        error: { code: -32601, message: `the method ${method} does not exist/is not available` },
      };
    case 'pruned':
      if (method !== 'eth_call') return undefined;
      return {
        error: { code: -32000, message: 'missing trie node 00 (path ) state is not available' },
      };
    case 'no-block-hash-calls':
      if (method !== 'eth_call' || typeof params[1] !== 'object') return undefined;
      return {
        error: {
          code: -32602,
          message: 'invalid argument 1: json: cannot unmarshal object into string',
        },
      };
    case 'no-deployless-calls':
      return isDeployless(call) ? { error: TO_IS_NULL } : undefined;
  }
}

/**
 * The answer of a ZK Stack node (matter-labs/zksync-era): `Web3Error::SerializationError` with code 3 and no data
 * (core/node/api_server/src/web3/backend_jsonrpsee/mod.rs).
 */
const TO_IS_NULL = { code: 3, message: 'Failed to serialize transaction: toAddressIsNull' };

function isDeployless({ method, params }: NodeCall): boolean {
  if (method !== 'eth_call' && method !== 'eth_estimateGas') return false;
  return (params[0] as { readonly to?: string | null }).to == null;
}

function rangeError(
  fault: CallFault & { kind: 'range-limit' },
  filter: unknown,
): Replacement | undefined {
  const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string };
  if (fromBlock === undefined || toBlock === undefined) return undefined;
  const from = BigInt(fromBlock);
  const to = BigInt(toBlock);
  if (to - from + 1n <= BigInt(fault.blocks)) return undefined;
  return { error: fault.error?.(from, to) ?? { code: -32000, message: 'block range is too wide' } };
}

/** @returns the body to send, or undefined where the fault does not apply */
export function applyBatchFault(
  fault: BatchFault,
  calls: readonly NodeCall[],
  answers: readonly NodeAnswer[],
): NodeAnswer | NodeAnswer[] | undefined {
  switch (fault.kind) {
    case 'single-error':
      return errorOf(null, fault);
    case 'out-of-order':
      return answers.length > 1 ? [...answers].reverse() : undefined;
    case 'missing-answer': {
      const missing = fault.index ?? answers.length - 1;
      return answers.filter((_, index) => index !== missing);
    }
    case 'wrong-ids':
      return answers.map((answer) => ({ ...answer, id: Number(answer.id) + 1_000_000 }));
    case 'batch-limit': {
      if (calls.length <= fault.limit) return undefined;
      if (fault.style === 'object') {
        const message = `Batch of more than ${fault.limit} requests are not allowed`;
        return errorOf(null, { code: -32600, message });
      }
      return [errorOf(calls[0]?.id, { code: -32600, message: 'batch too large' })];
    }
  }
}

function errorOf(id: unknown, { code, message }: { code: number; message: string }): NodeAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
