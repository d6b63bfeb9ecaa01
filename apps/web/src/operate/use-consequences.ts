import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';

/** What commands lead to, in the words of the command line. */
export function useConsequences(): (command: string) => string {
  const { data } = useConsequencesQuery();
  return (command) => data?.consequences[command] ?? '';
}

/** Whether actions of a worth that no figure bounds wait for a second operator. */
export function useHasSecondOperator(): boolean {
  const { data } = useConsequencesQuery();
  return (data?.approvalAboveUsd ?? null) !== null;
}

function useConsequencesQuery() {
  return useQuery({
    queryKey: ['operate', 'consequences'],
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/operate/consequences', { signal })),
    staleTime: Infinity,
  });
}
