/** Other programs of the installation, asked over HTTP: what they answer is not believed to be short, or JSON. */

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
    return { status: answer.status, body: parsed(await textOf(answer)) };
  } catch {
    const reason = signal.aborted
      ? `it did not answer within ${timeoutMs / 1000} s`
      : 'it cannot be reached';
    return { status: undefined, body: undefined, reason };
  }
}

/** @throws Error where there is too much of it */
async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const parts: AsyncIterable<Uint8Array> | readonly Uint8Array[] = answer.body ?? [];
  for await (const chunk of parts) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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
