import createClient, { type Middleware } from 'openapi-fetch';
import { ApiProblem } from './api-problem';
import { type components, type paths } from './console.generated';
import { CSRF_HEADER, csrfToken } from './csrf';
import { readServerClock } from './server-clock';

const TIMEOUT_MS = 30_000;

/** Shows the console that this is its own page. Every answer that is not a success becomes an ApiProblem. */
const ownPage: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set(CSRF_HEADER, csrfToken('console'));
    return new Request(request, {
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  },
  async onResponse({ response }) {
    readServerClock(response);
    if (response.ok) return;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    throw ApiProblem.of(response, body);
  },
};

/** The console's own API: of operators, of partners, and of signing in. */
export const consoleApi = createClient<paths>({ baseUrl: '/' });
consoleApi.use(ownPage);

/** A body of it, by its name in docs/wire/console-openapi.json. */
export type ConsoleBody<Name extends keyof components['schemas']> = components['schemas'][Name];

/** What a request brought; its refusals were thrown before. */
export async function dataOf<T>(answer: Promise<{ readonly data?: T | undefined }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new TypeError('The answer has no body.');
  return data;
}
