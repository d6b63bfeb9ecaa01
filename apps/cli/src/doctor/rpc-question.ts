import {
  AllEndpointsFailedError,
  ExecutionRevertedError,
  OverloadedError,
  RateLimitedError,
  RpcError,
  type RpcCall,
  type RpcPool,
  type RpcResult,
} from '#libs/chain';

/** The answers of one endpoint, in health or not. @throws RpcError where it did not answer at all, BusyError */
export async function askEndpoint(
  pool: RpcPool,
  only: string,
  ...calls: readonly RpcCall[]
): Promise<readonly RpcResult[]> {
  try {
    const { results } = await pool.run((session) => session.batch(calls), { only });
    return results;
  } catch (error) {
    throwIfBusy(error);
    const cause = error instanceof AllEndpointsFailedError ? error.failures.at(-1) : undefined;
    throw cause ?? error;
  }
}

/** The value of an answer, or why there is none; never with the endpoint's URL. */
export function toldBy(result: RpcResult | undefined): { value?: unknown; error?: Error } {
  if (result === undefined) return {};
  return result.ok ? { value: result.value } : { error: result.error };
}

/** A non-negative integer as nodes write it. */
export function quantityOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

export function toHex(number: bigint): string {
  return `0x${number.toString(16)}`;
}

/**
 * The endpoint refuses for the rate, also after it was waited for: nothing is known of what it was asked. The check that asked it is
 * not made, and no setting is blamed.
 */
export class BusyError extends Error {}

/** @throws BusyError where this is one of an endpoint that is only busy */
export function throwIfBusy(error: unknown): void {
  const failures = error instanceof AllEndpointsFailedError ? error.failures : [error];
  const busy = failures.find(
    (failure) => failure instanceof RateLimitedError || failure instanceof OverloadedError,
  );
  // None may be asked before some time has passed.
  const isPaused = failures.length === 0;
  if (busy === undefined && !isPaused) return;
  const said = busy instanceof Error ? busy.message : 'it asked to wait';
  throw new BusyError(
    `busy (rate limited): ${said}. Wait and try again, give the endpoint its budget in RPC_URLS (#rps=… or #cups=…), or take a larger plan`,
  );
}

/** The text of an error without the endpoint's name in front. @throws BusyError */
export function reasonOf(error: unknown): string {
  throwIfBusy(error);
  if (!(error instanceof RpcError) && !(error instanceof ExecutionRevertedError)) throw error;
  const { endpoint, message } = error;
  return message.startsWith(`${endpoint}: `) ? message.slice(endpoint.length + 2) : message;
}
