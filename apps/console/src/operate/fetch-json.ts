/** HTTP requests to other programs of the installation. Their answers may be too long or not JSON. */
import { bytesUpTo } from '../http/bytes-up-to.js';

export type JsonAnswer =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: undefined; readonly body: undefined; readonly reason: string };

const MOST_BYTES = 1024 * 1024;

/**
 * Never throws: a failed request returns its reason. Redirects are not followed. User and password of the URL are sent
 * as HTTP has them; `fetch` refuses such a URL.
 */
export async function fetchJson(url: string, timeoutMs: number): Promise<JsonAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { bare, authorization } = withoutLogin(url);
    const answer = await fetch(bare, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json', ...authorization },
    });
    const body = await bytesUpTo(MOST_BYTES, answer.body ?? []);
    if (body === undefined) throw new Error('too long');
    return { status: answer.status, body: parsed(body.toString('utf8')) };
  } catch {
    const reason = signal.aborted
      ? `it did not answer within ${timeoutMs / 1000} s`
      : 'it cannot be reached';
    return { status: undefined, body: undefined, reason };
  }
}

function withoutLogin(url: string): { bare: URL; authorization: { authorization?: string } } {
  const bare = new URL(url);
  const login = [bare.username, bare.password].map(decodeURIComponent).join(':');
  [bare.username, bare.password] = ['', ''];
  const basic = `Basic ${Buffer.from(login).toString('base64')}`;
  return { bare, authorization: login === ':' ? {} : { authorization: basic } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value itself, or an empty object where the value is not an object. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
