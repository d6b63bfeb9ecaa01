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
