import { useQuery } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem';
import { consoleApi, type ConsoleBody, SESSION_KEY } from '../api/console-client';
import { freshSignIn } from '../api/fresh-sign-in';
import { queryClient } from '../api/query-client';

export type Session = ConsoleBody<'Session'>;
export type Kind = Session['kind'];

const LOOK_AGAIN_MS = 60_000;

async function readSession(): Promise<Session | null> {
  try {
    const { data } = await consoleApi.GET('/api/auth/me', { headers: { 'x-background': '1' } });
    return data ?? null;
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 401)) throw error;
    // While the page asks for the sign-in above its form, it stays as it is.
    return freshSignIn.isAsked() ? (queryClient.getQueryData<Session>(SESSION_KEY) ?? null) : null;
  }
}

/** Who is signed in to the console; null: no one. It is asked again each minute, so that an end is noticed. */
export function useSession() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    refetchInterval: LOOK_AGAIN_MS,
    staleTime: 0,
  });
}

export function rememberSession(session: Session | null): void {
  queryClient.setQueryData(SESSION_KEY, session);
}

export async function signOut(): Promise<void> {
  await consoleApi.POST('/api/auth/logout');
  // What was read for that person goes; the session's own query stays, as the pages watch it.
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  rememberSession(null);
}
