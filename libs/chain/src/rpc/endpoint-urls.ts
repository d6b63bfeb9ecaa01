import { PermanentError } from '#libs/domain';

/**
 * @returns each URL with a name for logs and metrics: its host and its place in the list
 * @throws PermanentError naming the place of a wrong one, never its text, which may hold a key
 */
export function endpointUrls(urls: readonly string[]): { url: URL; name: string }[] {
  if (urls.length === 0)
    throw new PermanentError('RPC_URLS_INVALID', 'RPC_URLS names no endpoint.');
  return urls.map((text, index) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new PermanentError(
        'RPC_URLS_INVALID',
        `RPC_URLS: entry ${index + 1} is not an http or https URL.`,
      );
    }
    return { url, name: `${url.host}#${index + 1}` };
  });
}
