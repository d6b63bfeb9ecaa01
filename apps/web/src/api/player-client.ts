import createClient, { type Middleware } from 'openapi-fetch';
import { sessionStore } from '../redeem/session/session-store';
import { ApiProblem } from './api-problem';
import { CSRF_HEADER, csrfToken } from './csrf';
import { type paths } from './redemption.generated';
import { readServerClock } from './server-clock';

const TIMEOUT_MS = 30_000;

/** Shows the console that this is its own page. Every answer that is not a success becomes an ApiProblem; a session that has ended is forgotten. */
const ownPage: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET')
      request.headers.set(CSRF_HEADER, sessionStore.get()?.csrf ?? csrfToken('player'));
    return new Request(request, {
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  },
  async onResponse({ response, schemaPath }) {
    readServerClock(response);
    if (response.ok) return;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    const problem = ApiProblem.of(response, body);
    const isOver = problem.status === 401 && schemaPath !== '/api/auth/verify';
    if (isOver || problem.code === 'CSRF_TOKEN') sessionStore.end('expired');
    throw problem;
  },
};

/** The redemption service, by way of the console, which adds the player's session. */
export const playerApi = createClient<paths>({ baseUrl: '/player' });
playerApi.use(ownPage);
