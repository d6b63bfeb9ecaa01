import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';

/** The names of the stake sets; none while they are not known. */
export function useStakeSets(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['operate', 'overview', 'index'],
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/operate/overview/index', { signal })),
  });
  return data?.sets.map(({ stakeSet }) => stakeSet) ?? [];
}
