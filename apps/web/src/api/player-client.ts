import createClient, { type Middleware } from 'openapi-fetch';
import { sessionStore } from '../redeem/session/session-store';
import { watchAnswer } from './answer-watch';
import { ApiProblem } from './api-problem';
import { CSRF_HEADER, csrfToken } from './csrf';
import { type paths } from './redemption.generated';
import { readServerClock } from './server-clock';

const TIMEOUT_MS = 30_000;
/** This request may take as long as a partner’s answer, so it is not watched. */
const ASKS_PARTNERS = '/api/points';

const asked = new Map<string, ReturnType<typeof watchAnswer>>();

/**
 * Proves to the console that its own page sent the request. Every error answer becomes an ApiProblem, and an expired
 * session is removed.
 */
const ownPage: Middleware = {
  onRequest({ id, request, schemaPath }) {
    if (request.method === 'GET' && schemaPath !== ASKS_PARTNERS) asked.set(id, watchAnswer());
    if (request.method !== 'GET')
      request.headers.set(CSRF_HEADER, sessionStore.get()?.csrf ?? csrfToken('player'));
    return new Request(request, {
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  },
  async onResponse({ id, response, schemaPath }) {
    endWatch(id, response.status < 500);
    readServerClock(response);
    if (response.ok) return;
    const problem = await ApiProblem.from(response);
    const isOver = problem.status === 401 && schemaPath !== '/api/auth/verify';
    if (isOver || problem.code === 'CSRF_TOKEN') sessionStore.end('expired');
    throw problem;
  },
  onError({ id }) {
    endWatch(id, false);
  },
};

function endWatch(id: string, hasAnswered: boolean): void {
  asked.get(id)?.(hasAnswered);
  asked.delete(id);
}

/** The redemption service, through the console, which adds the player's session. */
export const playerApi = createClient<paths>({ baseUrl: '/player' });
playerApi.use(ownPage);
