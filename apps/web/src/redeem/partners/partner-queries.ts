import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';

/** Retries after a rate limit; a wallet may ask for its points every two seconds. */
const TRIES = 6;
const POINTS_REFRESH_MS = 60_000;
const QUOTE_REFRESH_MS = 15_000;
/** Interval of the requests while a partner does not answer. */
const AGAIN_MS = 10_000;

export function usePoints(partner: string, wallet: string) {
  return useQuery({
    queryKey: ['points', partner, wallet],
    queryFn: async () => {
      const { data } = await playerApi.GET('/api/partners/{partner}/points', {
        params: { path: { partner } },
      });
      return data?.points ?? 0;
    },
    staleTime: POINTS_REFRESH_MS / 2,
    refetchInterval: ({ state }) => (state.status === 'error' ? AGAIN_MS : POINTS_REFRESH_MS),
    retry: (failed, error) =>
      failed < TRIES && error instanceof ApiProblem && error.code === 'RATE_LIMIT_EXCEEDED',
    retryDelay: (_, error) =>
      error instanceof ApiProblem ? (error.retryAfterSeconds ?? 2) * 1_000 : AGAIN_MS,
  });
}

export function useLimits(partner: string) {
  return useQuery({
    queryKey: ['limits', partner],
    queryFn: async () => {
      const { data } = await playerApi.GET('/api/partners/{partner}/limits', {
        params: { path: { partner } },
      });
      return data;
    },
    refetchInterval: 2 * QUOTE_REFRESH_MS,
  });
}

/** A quote for the points, refreshed while it is shown. */
export function useQuote(partner: string, points: number | undefined) {
  return useQuery({
    queryKey: ['quote', partner, points],
    enabled: points !== undefined,
    queryFn: async () => {
      const { data } = await playerApi.GET('/api/partners/{partner}/quote', {
        params: { path: { partner }, query: { points: points ?? 1 } },
      });
      return data;
    },
    placeholderData: keepPreviousData,
    refetchInterval: QUOTE_REFRESH_MS,
  });
}
