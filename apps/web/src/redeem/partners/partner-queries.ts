import {
  keepPreviousData,
  type QueryClient,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';
import { type components } from '../../api/redemption.generated';

export type PointsOfPartner = components['schemas']['PointsOfPartner'];

/** Retries after a rate limit. */
const TRIES = 6;
const POINTS_REFRESH_MS = 60_000;
const QUOTE_REFRESH_MS = 15_000;
/** Interval of the requests while a partner does not answer. */
const AGAIN_MS = 10_000;

const keyOf = (partner: string, wallet: string) => ['points', partner, wallet] as const;

/** The points with all partners, by one request, for the cards that ask with `usePoints`. */
export function useAllPoints(wallet: string) {
  const client = useQueryClient();
  return useQuery({
    queryKey: ['all-points', wallet],
    queryFn: async () => {
      const all = await loadPoints({});
      for (const one of all) client.setQueryData(keyOf(one.partner.id, wallet), one);
      return all;
    },
    staleTime: POINTS_REFRESH_MS / 2,
    refetchInterval: ({ state }) => (state.status === 'error' ? AGAIN_MS : POINTS_REFRESH_MS),
    ...PATIENT,
  });
}

/** The points with one partner and their limits. A partner that did not answer is asked again by itself. */
export function usePoints(partner: string, wallet: string) {
  const all = useAllPoints(wallet);
  const one = useQuery({
    queryKey: keyOf(partner, wallet),
    queryFn: async () => (await loadPoints({ partner })).find((one) => one.partner.id === partner),
    enabled: all.isSuccess,
    staleTime: 2 * POINTS_REFRESH_MS,
    refetchInterval: ({ state }) =>
      state.status === 'error' || isForNow(state.data) ? AGAIN_MS : false,
    ...PATIENT,
  });
  const { data, refetch } = one;
  return { data, refetch, error: data === undefined ? (all.error ?? one.error) : null };
}

function isForNow(one: PointsOfPartner | undefined): boolean {
  return one?.problem != null && one.problem.code !== 'USER_NOT_FOUND';
}

async function loadPoints(query: { readonly partner?: string }): Promise<PointsOfPartner[]> {
  const { data } = await playerApi.GET('/api/points', { params: { query } });
  return data?.partners ?? [];
}

const PATIENT = {
  retry: (failed: number, error: Error) =>
    failed < TRIES && error instanceof ApiProblem && error.code === 'RATE_LIMIT_EXCEEDED',
  retryDelay: (_: number, error: Error) =>
    error instanceof ApiProblem ? (error.retryAfterSeconds ?? 2) * 1_000 : AGAIN_MS,
};

/** Asks for the points, limits and quotes of a partner again, since a redemption has changed them. */
export function refreshPoints(client: QueryClient, partner: string): void {
  void client.invalidateQueries({ queryKey: ['points', partner] });
  void client.invalidateQueries({ queryKey: ['quote', partner] });
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
