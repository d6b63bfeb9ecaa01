import { useQuery } from '@tanstack/react-query';
import { consoleApi } from '../api/console-client';
import { type components } from '../api/console.generated';

type Schemas = components['schemas'];
export type Standing = Schemas['OwnStanding'];
export type Credential = Schemas['OwnCredential'];

export const STANDING_KEY = ['partner', 'standing'];

/** The data of an answer; one that is no success has thrown before. */
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

/** How the partner of the session is set up. */
export function useStanding() {
  return useQuery({
    queryKey: STANDING_KEY,
    queryFn: ({ signal }) => dataOf(consoleApi.GET('/api/partner/standing', { signal })),
  });
}
