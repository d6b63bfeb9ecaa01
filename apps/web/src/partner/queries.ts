import { useQuery } from '@tanstack/react-query';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../api/console-client';

export type Standing = ConsoleBody<'OwnStanding'>;
export type Webhook = ConsoleBody<'Webhook'>;
export type Credential = ConsoleBody<'OwnCredential'>;

export const STANDING_KEY = ['partner', 'standing'];

/** The settings of the session's partner. */
export function useStanding() {
  return useQuery({
    queryKey: STANDING_KEY,
    queryFn: getFrom('/api/partner/standing'),
  });
}

export const WEBHOOKS_KEY = ['partner', 'webhooks'];

/** All webhooks of the partner, oldest first. */
export function useWebhooks() {
  return useQuery({
    queryKey: WEBHOOKS_KEY,
    queryFn: async ({ signal }) =>
      (await dataOf(consoleApi.GET('/api/partner/webhooks', { signal }))).webhooks,
  });
}
