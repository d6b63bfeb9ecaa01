import { RpcRefusedError } from '../errors/rpc.errors.js';
import { type RpcResult } from '../rpc/rpc-call.js';

const KNOWN = /already known|known transaction|already imported/i;

/** Whether a node refused a transaction because it has it already. */
export function isKnownTransaction(result: RpcResult | undefined): boolean {
  return (
    result?.ok === false &&
    result.error instanceof RpcRefusedError &&
    KNOWN.test(result.error.message)
  );
}
