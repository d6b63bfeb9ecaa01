/** Sends one request to the api, and returns its whole answer as received over the wire. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { HttpProblem } from '#libs/service';
import { bytesUpTo } from '../http/bytes-up-to.js';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 256 * 1024;

export interface ApiAnswer {
  readonly status: number;
  /** As received, in their order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Buffer;
  readonly durationMs: number;
}

/** @throws HttpProblem 503 API_AWAY */
export async function askApi(base: string, target: string, apiKey: string): Promise<ApiAnswer> {
  const startedAt = performance.now();
  try {
    const { status, headers, body } = await exchange(new URL(base), target, apiKey);
    return { status, headers, body, durationMs: Math.round(performance.now() - startedAt) };
  } catch (cause) {
    const message = 'The api does not answer at the moment: try again shortly.';
    throw new HttpProblem(503, message, { code: 'API_AWAY', retryAfterSeconds: 5, cause });
  }
}

function exchange(base: URL, path: string, apiKey: string): Promise<Omit<ApiAnswer, 'durationMs'>> {
  return new Promise((resolve, reject) => {
    const open = base.protocol === 'https:' ? requestHttps : requestHttp;
    const options = {
      ...{ hostname: base.hostname.replace(/^\[|\]$/g, ''), port: base.port, path },
      ...{ agent: false as const, signal: AbortSignal.timeout(TIMEOUT_MS) },
      headers: { 'x-api-key': apiKey, accept: 'application/json' },
    };
    const request = open(options, (response) => {
      bytesUpTo(MAX_BODY_BYTES, response).then((body) => {
        if (body === undefined) reject(new Error('the answer is too large'));
        else resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body });
      }, reject);
    });
    request.on('error', reject);
    request.end();
  });
}

function headersOf({ rawHeaders }: IncomingMessage): { name: string; value: string }[] {
  return rawHeaders.flatMap((name, place) =>
    place % 2 === 0 ? [{ name, value: rawHeaders[place + 1] ?? '' }] : [],
  );
}
