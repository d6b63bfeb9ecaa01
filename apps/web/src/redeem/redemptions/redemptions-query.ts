import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { playerApi } from '../../api/player-client';
import { type Redemption } from '../config';
import { refreshPoints } from '../partners/partner-queries';
import { claimsStore } from './claims-store';
import { hasEnded } from './redemption-phase';

interface Page {
  readonly redemptions: readonly Redemption[];
  /** `before` of the next page; null on the last page. */
  readonly next: string | null;
}
type Pages = InfiniteData<Page, string | undefined>;

const LIMIT = 20;
const POLL_MS = 3_000;
const REST_MS = 30_000;

const keyOf = (wallet: string) => ['redemptions', wallet] as const;
const itemsOf = ({ pages }: Pages): Redemption[] => pages.flatMap(({ redemptions }) => redemptions);

/** The wallet's redemptions, newest first, as far as they were asked for. */
export function useRedemptions(wallet: string) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: keyOf(wallet),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: Page) => next,
    queryFn: async ({ pageParam: before }) => {
      const page = await loadPage(wallet, before);
      refreshChanged(client, wallet, page.redemptions);
      return page;
    },
    select: itemsOf,
    refetchInterval: ({ state }) =>
      state.status === 'success' && state.data !== undefined && itemsOf(state.data).every(hasEnded)
        ? REST_MS
        : POLL_MS,
    retry: false,
  });
  useForgottenClaims(query.data);
  return query;
}

/** Stores a redemption that this page has just created or cancelled. */
export function useTakeRedemption(wallet: string): (redemption: Redemption) => void {
  const client = useQueryClient();
  return (redemption) => {
    refreshChanged(client, wallet, [redemption]);
    // A request that is under way may not know of it yet.
    void client.cancelQueries({ queryKey: keyOf(wallet) });
    client.setQueryData<Pages>(keyOf(wallet), (known) => known && withOne(known, redemption));
    void client.invalidateQueries({ queryKey: keyOf(wallet) });
  };
}

function withOne(known: Pages, taken: Redemption): Pages {
  const isNew = itemsOf(known).every(({ id }) => id !== taken.id);
  const pages = known.pages.map((page, place) => ({
    ...page,
    redemptions: [
      ...(isNew && place === 0 ? [taken] : []),
      ...page.redemptions.map((one) => (one.id === taken.id ? taken : one)),
    ],
  }));
  return { ...known, pages };
}

async function loadPage(wallet: string, before: string | undefined): Promise<Page> {
  const query = { limit: LIMIT, ...(before !== undefined && { before }) };
  const { data } = await playerApi.GET('/api/redemptions', { params: { query } });
  // Another tab may have signed in with another wallet, to which these redemptions belong.
  const isOurs = data?.redemptions.every((one) => one.wallet === wallet) ?? false;
  return data === undefined || !isOurs ? { redemptions: [], next: null } : data;
}

/** Refreshes the points and quotes of the partners whose redemptions have changed. */
function refreshChanged(client: QueryClient, wallet: string, now: readonly Redemption[]): void {
  const before = client.getQueryData<Pages>(keyOf(wallet));
  if (before === undefined) return;
  const stages = new Map(itemsOf(before).map(({ id, stage }) => [id, stage]));
  for (const { id, stage, partner } of now) {
    if (stages.get(id) !== stage) refreshPoints(client, partner.id);
  }
}

function useForgottenClaims(redemptions: readonly Redemption[] | undefined): void {
  useEffect(() => {
    for (const one of redemptions ?? []) if (hasEnded(one)) claimsStore.forget(one.id);
  }, [redemptions]);
}

export function cardId({ id }: Pick<Redemption, 'id'>): string {
  return `redemption-${id}`;
}
