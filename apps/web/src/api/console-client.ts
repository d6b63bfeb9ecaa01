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
/** Key of the query for the session; its data is null where no one is signed in. */
export const SESSION_KEY = ['session'];

/** Sends a request once, with the header that proves to the console that its own page sent it. */
function sendOnce(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set(CSRF_HEADER, csrfToken('console'));
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return fetch(new Request(request, { signal }));
}

/** Refusals after which the same request can succeed once the person has signed in. Its form stays open. */
const MENDED_BY_SIGN_IN = ['FRESH_SIGN_IN_NEEDED', 'SIGN_IN_NEEDED', 'SESSION_ENDED'];

/** Sends a request. If it needs a sign-in, or a recent one, it waits for the sign-in and is sent a second time. */
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

/** Converts every error answer to an ApiProblem, which is thrown. */
const problems: Middleware = {
  async onResponse({ response }) {
    readServerClock(response);
    if (response.ok) return;
    const problem = await ApiProblem.from(response);
    const isOut = problem.code === 'SIGN_IN_NEEDED' || problem.code === 'SESSION_ENDED';
    // While the page asks for a sign-in above its form, the session stays as it is.
    if (isOut && !freshSignIn.isAsked()) {
      // Without a session, the area leads to its sign-in page and from there back to this page.
      queryClient.setQueryData(SESSION_KEY, null);
    }
    throw problem;
  },
};

/** The console's own API, for operators and partners. Requests without a person's action need X-Background. */
export const consoleApi = createClient<paths>({ baseUrl: '/', fetch: send });
consoleApi.use(problems);

/** A body of this API, by its name in docs/wire/console-openapi.json. */
export type ConsoleBody<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The data of an answer; error answers have been thrown before. */
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

/** A query function that reads this path. */
export function getFrom<Path extends GetPath>(
  path: Path,
  ...[init]: InitOf<Path>
): QueryFunction<Path> {
  return ({ signal }) => dataOf(consoleApi.GET(path, { ...init, signal } as never));
}

/** Like `getFrom`, for polling: a refresh of existing data counts as a request without a person's action. */
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
