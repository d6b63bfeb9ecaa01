import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf, refreshing } from '../../api/console-client';

const EVERY_MS = 30_000;

/** How many wait for a second operator; undefined while that is not known. */
export function useOpenApprovals(): number | undefined {
  const { data } = useQuery({
    queryKey: ['operate', 'approvals', 'open'],
    queryFn: ({ signal, queryKey }) =>
      dataOf(
        consoleApi.GET('/api/operate/approvals', {
          params: { query: { which: 'open' } },
          signal,
          headers: refreshing(queryKey),
        }),
      ),
    refetchInterval: EVERY_MS,
  });
  return data?.approvals.length;
}
