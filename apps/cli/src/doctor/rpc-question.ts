import {
  AllEndpointsFailedError,
  ExecutionRevertedError,
  RpcError,
  type RpcCall,
  type RpcPool,
  type RpcResult,
} from '#libs/chain';

/** The answers of one endpoint, in health or not. @throws RpcError where it did not answer at all */
export async function askEndpoint(
  pool: RpcPool,
  only: string,
  ...calls: readonly RpcCall[]
): Promise<readonly RpcResult[]> {
  try {
    const { results } = await pool.run((session) => session.batch(calls), { only });
    return results;
  } catch (error) {
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

/** The text of an error without the endpoint's name in front. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof RpcError) && !(error instanceof ExecutionRevertedError)) throw error;
  const { endpoint, message } = error;
  return message.startsWith(`${endpoint}: `) ? message.slice(endpoint.length + 2) : message;
}
