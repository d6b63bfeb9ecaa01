/** Questions to one endpoint or to all of them. What is shown of an answer never has an endpoint's URL. */
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
import { LowmarkError } from '#libs/domain';

/** The value of an answer, or why there is none. */
export interface Told {
  readonly value?: unknown;
  readonly error?: Error;
}

export function toldBy(result: RpcResult | undefined): Told {
  if (result === undefined) return {};
  return result.ok ? { value: result.value } : { error: result.error };
}

/** What one endpoint answers, in health or not. @throws BusyError */
export async function askEndpoint(pool: RpcPool, only: string, call: RpcCall): Promise<Told> {
  try {
    const { results } = await pool.run((session) => session.batch([call]), { only });
    return toldBy(results[0]);
  } catch (error) {
    throwIfBusy(error);
    const cause = error instanceof AllEndpointsFailedError ? error.failures.at(-1) : undefined;
    const failure = cause ?? error;
    if (failure instanceof RpcError) return { error: failure };
    throw failure;
  }
}

/** What some endpoint answers; undefined where they refuse. @throws AllEndpointsFailedError where none answers at all, BusyError */
export async function askAny(pool: RpcPool, call: RpcCall): Promise<unknown> {
  try {
    return await pool.run(async (session) => {
      const { results } = await session.batch([call]);
      const { value, error } = toldBy(results[0]);
      if (error !== undefined) throw error;
      return value;
    });
  } catch (error) {
    throwIfBusy(error);
    const isRefused =
      error instanceof AllEndpointsFailedError
        ? error.failures.length > 0
        : error instanceof LowmarkError;
    if (isRefused) return undefined;
    throw error;
  }
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
