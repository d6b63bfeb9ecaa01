import { useSession } from '../session/use-session';
import { useQuery } from '@tanstack/react-query';
import { getFrom } from '../api/console-client';

/** Whether the signed-in operator may make changes. The server checks this again. */
export function useMayOperate(): boolean {
  const role = useSession().data?.role;
  return role === 'operator' || role === 'admin';
}

export function useIsAdmin(): boolean {
  return useSession().data?.role === 'admin';
}

/** Returns the consequences of commands, in the words of the command line. */
export function useConsequences(): (command: string) => string {
  const { data } = useConsequencesQuery();
  return (command) => data?.consequences[command] ?? '';
}

/** The consequences of commands on one partner, each with the name and the id of the partner before it. */
export function usePartnerConsequences(partner: string): (command: string) => string {
  const consequenceOf = useConsequences();
  const { data } = usePartner(partner);
  return (command) => `${data?.name ?? ''}, ${partner}: ${consequenceOf(command)}`;
}

export function usePartner(partner: string) {
  return useQuery({
    queryKey: ['operate', 'partners', partner],
    queryFn: getFrom('/api/operate/partners/{partner}', { params: { path: { partner } } }),
  });
}

/** Whether actions of unlimited value need two-person approval. */
export function useHasSecondOperator(): boolean {
  return (useApprovalAboveUsd() ?? null) !== null;
}

/** Value in USD from which actions need two-person approval; null: none do; undefined: not loaded yet. */
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
