import { useSession } from '../session/use-session';
import { useQuery } from '@tanstack/react-query';
import { getFrom } from '../api/console-client';

/** Whether the one who is signed in may change something; the server decides in any case. */
export function useMayOperate(): boolean {
  const role = useSession().data?.role;
  return role === 'operator' || role === 'admin';
}

export function useIsAdmin(): boolean {
  return useSession().data?.role === 'admin';
}

/** What commands lead to, in the words of the command line. */
export function useConsequences(): (command: string) => string {
  const { data } = useConsequencesQuery();
  return (command) => data?.consequences[command] ?? '';
}

/** Whether actions of a worth that no figure bounds wait for a second operator. */
export function useHasSecondOperator(): boolean {
  return (useApprovalAboveUsd() ?? null) !== null;
}

/** From which worth on a second operator decides; null: none does; undefined: not known yet. */
export function useApprovalAboveUsd(): string | null | undefined {
  return useConsequencesQuery().data?.approvalAboveUsd;
}

function useConsequencesQuery() {
  return useQuery({
    queryKey: ['operate', 'consequences'],
    queryFn: getFrom('/api/operate/consequences'),
    staleTime: Infinity,
  });
}
