import createClient, { type Middleware } from 'openapi-fetch';
import { ApiProblem } from './api-problem';
import { type paths } from './console.generated';
import { CSRF_HEADER, csrfToken } from './csrf';
import { queryClient } from './query-client';

const TIMEOUT_MS = 30_000;
/** The query of who is signed in; null: nobody. */
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

/** To the sign-in of the area, and back to this place. */
function signInAgain(): void {
  const { pathname, search } = location;
  const area = pathname.startsWith('/partner') ? 'partner' : 'operate';
  const query = new URLSearchParams({ fresh: '1', returnTo: `${pathname}${search}` });
  location.assign(`/${area}/sign-in?${query.toString()}`);
}
