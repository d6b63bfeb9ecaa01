import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';

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
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/operate/consequences', { signal })),
    staleTime: Infinity,
  });
}
