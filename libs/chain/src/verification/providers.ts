import { isOutage } from '../errors/rpc.errors.js';

/** The provider of an endpoint: what its name says before the ordinal, which is its domain. */
export function providerOf(endpoint: string): string {
  return endpoint.replace(/#\d+$/, '');
}

/** So long another provider is waited for where the word of one will do while it is out. */
export const OUTAGE_PATIENCE_MS = 1_000;

/** How many different providers the endpoints are of. */
export function countProviders(endpoints: readonly string[]): number {
  return new Set(endpoints.map(providerOf)).size;
}

/** The endpoints of this one's provider, itself included: to be avoided where the word of another is wanted. */
export function ownProvider(endpoint: string, endpoints: readonly string[]): string[] {
  const provider = providerOf(endpoint);
  return endpoints.filter((name) => providerOf(name) === provider);
}

/** The endpoints of other providers than this one's. */
export function otherProvidersThan(endpoint: string, endpoints: readonly string[]): string[] {
  const provider = providerOf(endpoint);
  return endpoints.filter((name) => providerOf(name) !== provider);
}

/** A figure of the contract with the endpoint that told it. */
export interface ToldFigure<T> {
  readonly figure: T;
  readonly endpoint: string;
}

/** Asks for a figure and notes which endpoint tells it; undefined where none can. */
export async function askFigure<T>(
  ask: (options: { readonly saidBy: (endpoint: string) => void }) => Promise<T | undefined>,
): Promise<ToldFigure<T> | undefined> {
  let endpoint = '';
  const figure = await ask({
    saidBy: (name) => {
      endpoint = name;
    },
  });
  return figure === undefined ? undefined : { figure, endpoint };
}

/** Asks another provider than that of `endpoint`; undefined where there is none, or it is out. */
export async function askOtherProvider<T>(
  endpoint: string,
  endpoints: readonly string[],
  ask: (options: { readonly avoid: string[]; readonly patienceMs: number }) => Promise<T>,
): Promise<T | undefined> {
  if (countProviders(endpoints) < 2) return undefined;
  try {
    return await ask({ avoid: ownProvider(endpoint, endpoints), patienceMs: OUTAGE_PATIENCE_MS });
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}
