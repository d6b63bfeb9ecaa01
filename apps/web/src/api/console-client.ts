import { type QueryKey } from '@tanstack/react-query';
import createClient, { type Middleware } from 'openapi-fetch';
import { ApiProblem } from './api-problem';
import { type components, type paths } from './console.generated';
import { CSRF_HEADER, csrfToken } from './csrf';
import { queryClient } from './query-client';
import { readServerClock } from './server-clock';

const TIMEOUT_MS = 30_000;
/** The query of who is signed in; null: no one. */
export const SESSION_KEY = ['session'];

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
    const problem = ApiProblem.of(response, body);
    if (problem.code === 'SIGN_IN_NEEDED' || problem.code === 'SESSION_ENDED') {
      // The area leads to its sign-in, and back to this place.
      queryClient.setQueryData(SESSION_KEY, null);
    }
    if (problem.code === 'FRESH_SIGN_IN_NEEDED') signInAgain();
    throw problem;
  },
};

/** The console's own API, for operators and partners. For what is asked without a person being there, send the header X-Background. */
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

/** The headers of a query that is asked again and again: what was there before is refreshed without a person. */
export function refreshing(queryKey: QueryKey): Readonly<Record<string, string>> {
  return queryClient.getQueryData(queryKey) === undefined ? {} : { 'x-background': '1' };
}

/** To the sign-in of the area, and back to this place. */
function signInAgain(): void {
  const { pathname, search } = location;
  const area = pathname.startsWith('/partner') ? 'partner' : 'operate';
  const query = new URLSearchParams({ fresh: '1', returnTo: `${pathname}${search}` });
  location.assign(`/${area}/sign-in?${query.toString()}`);
}
