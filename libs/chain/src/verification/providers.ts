/** The provider of an endpoint: what its name says before the ordinal, which is its domain. */
export function providerOf(endpoint: string): string {
  return endpoint.replace(/#\d+$/, '');
}

/** How many different providers the endpoints are of. */
export function countProviders(endpoints: readonly string[]): number {
  return new Set(endpoints.map(providerOf)).size;
}

/** The endpoints of other providers than this one's. */
export function otherProvidersThan(endpoint: string, endpoints: readonly string[]): string[] {
  const provider = providerOf(endpoint);
  return endpoints.filter((name) => providerOf(name) !== provider);
}
