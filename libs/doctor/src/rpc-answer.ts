/** Requests to one endpoint or to all of them. Reported texts never contain an endpoint's URL. */
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

/** The value of an answer, or the error instead of it. */
export interface RpcAnswer {
  readonly value?: unknown;
  readonly error?: Error;
}

function answerOf(result: RpcResult | undefined): RpcAnswer {
  if (result === undefined) return {};
  return result.ok ? { value: result.value } : { error: result.error };
}

/** Asks one endpoint, even where the pool considers it unhealthy. @throws BusyError */
export async function askEndpoint(pool: RpcPool, only: string, call: RpcCall): Promise<RpcAnswer> {
  try {
    const { results } = await pool.run((session) => session.batch([call]), { only });
    return answerOf(results[0]);
  } catch (error) {
    throwIfBusy(error);
    const cause = error instanceof AllEndpointsFailedError ? error.failures.at(-1) : undefined;
    const failure = cause ?? error;
    if (failure instanceof RpcError) return { error: failure };
    throw failure;
  }
}

/**
 * Asks the pool; undefined where the endpoints refuse. @throws AllEndpointsFailedError where no endpoint answers,
 * BusyError
 */
export async function askAny(pool: RpcPool, call: RpcCall): Promise<unknown> {
  try {
    return await pool.run(async (session) => {
      const { results } = await session.batch([call]);
      const { value, error } = answerOf(results[0]);
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
 * The endpoint refuses because of its rate limit, even after a wait, so the answer is unknown. The check counts as not
 * made, and no setting is reported as wrong.
 */
export class BusyError extends Error {}

/** @throws BusyError where the error comes from an endpoint that is only rate limited or overloaded */
export function throwIfBusy(error: unknown): void {
  const failures = error instanceof AllEndpointsFailedError ? error.failures : [error];
  const busy = failures.find(
    (failure) => failure instanceof RateLimitedError || failure instanceof OverloadedError,
  );
  // No failure at all means that every endpoint is paused for some time.
  const isPaused = failures.length === 0;
  if (busy === undefined && !isPaused) return;
  const said = busy instanceof Error ? busy.message : 'it asked to wait';
  throw new BusyError(
    `busy (rate limited): ${said}. Wait and try again, give the endpoint its budget in RPC_URLS (#rps=… or #cups=…), or take a larger plan`,
  );
}

/** The message of an error without the endpoint's name in front. @throws BusyError */
export function reasonOf(error: unknown): string {
  throwIfBusy(error);
  if (!(error instanceof RpcError) && !(error instanceof ExecutionRevertedError)) throw error;
  const { endpoint, message } = error;
  return message.startsWith(`${endpoint}: `) ? message.slice(endpoint.length + 2) : message;
}
