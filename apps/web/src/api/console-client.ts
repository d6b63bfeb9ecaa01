import { type QueryFunctionContext } from '@tanstack/react-query';
import createClient, {
  type ClientPathsWithMethod,
  type MaybeOptionalInit,
  type MethodResponse,
  type Middleware,
} from 'openapi-fetch';
import { ApiProblem } from './api-problem';
import { type components, type paths } from './console.generated';
import { CSRF_HEADER, csrfToken } from './csrf';
import { freshSignIn } from './fresh-sign-in';
import { queryClient } from './query-client';
import { readServerClock } from './server-clock';

const TIMEOUT_MS = 30_000;
/** The query of who is signed in; null: no one. */
export const SESSION_KEY = ['session'];

/** Shows the console that this is its own page. */
function sendOnce(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set(CSRF_HEADER, csrfToken('console'));
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return fetch(new Request(request, { signal }));
}

/** After these the same request can be made once the person has signed in; the form that sent it stays as it is. */
const MENDED_BY_SIGN_IN = ['FRESH_SIGN_IN_NEEDED', 'SIGN_IN_NEEDED', 'SESSION_ENDED'];

/** What needs a sign-in, or a fresh one, waits for it, and is sent a second time. */
async function send(request: Request): Promise<Response> {
  const isSigningIn = new URL(request.url).pathname.startsWith('/api/auth/');
  if (request.method === 'GET' || isSigningIn) return sendOnce(request);
  const again = request.clone();
  const response = await sendOnce(request);
  if (response.status !== 401) return response;
  const { code } = await ApiProblem.from(response);
  const isMended = MENDED_BY_SIGN_IN.includes(code) && (await freshSignIn.ask(code));
  return isMended ? sendOnce(again) : response;
}

/** Every answer that is not a success becomes an ApiProblem. */
const problems: Middleware = {
  async onResponse({ response }) {
    readServerClock(response);
    if (response.ok) return;
    const problem = await ApiProblem.from(response);
    const isOut = problem.code === 'SIGN_IN_NEEDED' || problem.code === 'SESSION_ENDED';
    // While the page asks for the sign-in itself, it stays.
    if (isOut && !freshSignIn.isAsked()) {
      // The area leads to its sign-in, and back to this place.
      queryClient.setQueryData(SESSION_KEY, null);
    }
    throw problem;
  },
};

/** The console's own API, for operators and partners. For what is asked without a person being there, send the header X-Background. */
export const consoleApi = createClient<paths>({ baseUrl: '/', fetch: send });
consoleApi.use(problems);

/** A body of it, by its name in docs/wire/console-openapi.json. */
export type ConsoleBody<Name extends keyof components['schemas']> = components['schemas'][Name];

/** What a request brought; its refusals were thrown before. */
export async function dataOf<T>(answer: Promise<{ readonly data?: T | undefined }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new TypeError('The answer has no body.');
  return data;
}

type GetPath = ClientPathsWithMethod<typeof consoleApi, 'get'>;
type Init<Path extends GetPath> = MaybeOptionalInit<paths[Path], 'get'>;
type InitOf<Path extends GetPath> =
  undefined extends Init<Path> ? [init?: Init<Path>] : [init: Init<Path>];
type QueryFunction<Path extends GetPath> = (
  context: QueryFunctionContext,
) => Promise<MethodResponse<typeof consoleApi, 'get', Path>>;

/** What a query asks for. */
export function getFrom<Path extends GetPath>(
  path: Path,
  ...[init]: InitOf<Path>
): QueryFunction<Path> {
  return ({ signal }) => dataOf(consoleApi.GET(path, { ...init, signal } as never));
}

/** The same for a query that is asked again and again: what was there before is refreshed without a person. */
export function pollFrom<Path extends GetPath>(
  path: Path,
  ...[init]: InitOf<Path>
): QueryFunction<Path> {
  return ({ signal, queryKey }) => {
    const isKnown = queryClient.getQueryData(queryKey) !== undefined;
    const headers = isKnown ? { 'x-background': '1' } : {};
    return dataOf(consoleApi.GET(path, { ...init, signal, headers } as never));
  };
}
