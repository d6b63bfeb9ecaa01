import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';

export const WEBHOOKS_KEY = ['partner', 'webhooks'];

/** All webhooks of the partner, the oldest first. */
export function useWebhooks() {
  return useQuery({
    queryKey: WEBHOOKS_KEY,
    queryFn: async ({ signal }) =>
      (await dataOf(consoleApi.GET('/api/partner/webhooks', { signal }))).webhooks,
  });
}
