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
    // While the page asks for a sign-in above its form, the session stays as it is.
    return freshSignIn.isAsked() ? (queryClient.getQueryData<Session>(SESSION_KEY) ?? null) : null;
  }
}

/** The console's session; null where no one is signed in. Refreshed every minute to notice its end. */
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
  // Removes the data of the signed-out person. The session's query stays, because the pages observe it.
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  rememberSession(null);
}
