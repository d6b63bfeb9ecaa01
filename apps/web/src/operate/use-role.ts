import { useQuery } from '@tanstack/react-query';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';

type Session = ConsoleBody<'Session'>;

/** Who is signed in. Asking does not make the session go on. */
export function useOperator(): Session | undefined {
  const { data } = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) =>
      dataOf(consoleApi.GET('/api/auth/me', { signal, headers: { 'x-background': '1' } })),
    staleTime: 30_000,
  });
  return data;
}

/** Whether the one who is signed in may change something; the server decides in any case. */
export function useMayOperate(): boolean {
  const role = useOperator()?.role;
  return role === 'operator' || role === 'admin';
}
