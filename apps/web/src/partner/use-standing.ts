import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';
import { type components } from '../api/console.generated';

type Schemas = components['schemas'];
export type Standing = Schemas['OwnStanding'];
export type Credential = Schemas['OwnCredential'];

export const STANDING_KEY = ['partner', 'standing'];

/** How the partner of the session is set up. */
export function useStanding() {
  return useQuery({
    queryKey: STANDING_KEY,
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/partner/standing', { signal })),
  });
}
