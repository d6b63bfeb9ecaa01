/** Other programs of the installation, asked over HTTP: what they answer is not believed to be short, or JSON. */
import { bytesUpTo } from '../http/bytes-up-to.js';

export type JsonAnswer =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: undefined; readonly body: undefined; readonly reason: string };

const MOST_BYTES = 1024 * 1024;

/** Never throws: what did not come is a reason. A redirection is not followed. */
export async function fetchJson(url: string, timeoutMs: number): Promise<JsonAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json' },
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is no object has no fields. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
