import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';

/** What commands lead to, in the words of the command line. */
export function useConsequences(): (command: string) => string {
  const { data } = useQuery({
    queryKey: ['operate', 'consequences'],
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/operate/consequences', { signal })),
    staleTime: Infinity,
  });
  return (command) => data?.consequences[command] ?? '';
}
