import { useSession } from '../session/use-session';

/** Whether the one who is signed in may change something; the server decides in any case. */
export function useMayOperate(): boolean {
  const role = useSession().data?.role;
  return role === 'operator' || role === 'admin';
}

export function useIsAdmin(): boolean {
  return useSession().data?.role === 'admin';
}
