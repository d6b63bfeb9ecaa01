import { PriceUnavailableError } from './price.errors.js';
import { readLimited } from './read-limited.js';

const HTTP_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1_048_576;

/** The document behind a URL, whose credentials are sent as HTTP basic. @throws PriceUnavailableError */
export async function getDocument(url: string): Promise<string> {
  const { username, password, href } = new URL(url);
  const bare = new URL(href);
  [bare.username, bare.password] = ['', ''];
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  try {
    const response = await fetch(bare, {
      headers: {
        accept: 'application/json',
        ...(username === '' ? {} : { authorization: `Basic ${basic.toString('base64')}` }),
      },
      // One deadline for everything, the body included.
      signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
    });
    if (!response.ok) throw new PriceUnavailableError(`answered with status ${response.status}`);
    return await readLimited(response, MAX_BODY_BYTES);
  } catch (cause) {
    if (cause instanceof PriceUnavailableError) throw cause;
    throw new PriceUnavailableError('did not answer', cause);
  }
}
