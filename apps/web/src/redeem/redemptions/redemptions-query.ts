import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { playerApi } from '../../api/player-client';
import { type Redemption } from '../config';
import { claimsStore } from './claims-store';
import { type Feed, useLiveFeed } from './live-feed';
import { hasEnded } from './redemption-phase';

export interface Redemptions {
  /** Newest first. */
  readonly items: readonly Redemption[];
  /** `before` of the next page; null on the last page, undefined until a page has been loaded. */
  readonly next: string | null | undefined;
}

interface Page {
  readonly redemptions: readonly Redemption[];
  readonly next: string | null;
}

const PAGE = 20;
const POLL_MS = 3_000;
const REST_MS = 30_000;
const NOTHING: Redemptions = { items: [], next: undefined };

const keyOf = (wallet: string) => ['redemptions', wallet] as const;

/** The wallet's redemptions from the live feed, with polling every few seconds where the feed is unavailable. */
export function useRedemptions(wallet: string) {
  const client = useQueryClient();
  const take = useCallback(
    (changed: readonly Redemption[], page?: Page) => {
      takeIn(client, wallet, changed, page);
    },
    [client, wallet],
  );
  const feed = useLiveFeed(wallet, take);
  const query = useQuery({
    queryKey: keyOf(wallet),
    queryFn: async () => {
      const page = await loadPage(wallet);
      const before = client.getQueryData<Redemptions>(keyOf(wallet));
      refreshPoints(client, before, page.redemptions);
      return merged(before ?? NOTHING, page.redemptions, page);
    },
    refetchInterval: ({ state }) => pollEvery(feed, state.data),
    retry: false,
  });
  useForgottenClaims(query.data);
  const loadMore = useCallback(async () => {
    const before = client.getQueryData<Redemptions>(keyOf(wallet))?.next ?? undefined;
    const page = await loadPage(wallet, before);
    client.setQueryData<Redemptions>(keyOf(wallet), (known = NOTHING) => ({
      items: byId(known.items, page.redemptions),
      next: page.next,
    }));
  }, [client, wallet]);
  return { ...query, feed, loadMore };
}

/** Stores a redemption that this page has just created or cancelled. */
export function useTakeRedemption(wallet: string): (redemption: Redemption) => void {
  const client = useQueryClient();
  return (redemption) => takeIn(client, wallet, [redemption]);
}

function pollEvery(feed: Feed, known: Redemptions | undefined): number {
  if (feed === 'live') return REST_MS;
  return known?.items.every(hasEnded) === true ? 3 * POLL_MS : POLL_MS;
}

async function loadPage(wallet: string, before?: string): Promise<Page> {
  const query = { limit: PAGE, ...(before !== undefined && { before }) };
  const { data } = await playerApi.GET('/api/redemptions', { params: { query } });
  // Another tab may have signed in with another wallet, to which these redemptions belong.
  const isOurs = data?.redemptions.every((one) => one.wallet === wallet) ?? false;
  return data === undefined || !isOurs ? { redemptions: [], next: null } : data;
}

function takeIn(
  client: QueryClient,
  wallet: string,
  changed: readonly Redemption[],
  page?: Page,
): void {
  const before = client.getQueryData<Redemptions>(keyOf(wallet));
  refreshPoints(client, before, changed);
  client.setQueryData<Redemptions>(keyOf(wallet), merged(before ?? NOTHING, changed, page));
}

/** Refreshes points, quote and limits of the partners whose redemptions have changed. */
function refreshPoints(
  client: QueryClient,
  before: Redemptions | undefined,
  changed: readonly Redemption[],
): void {
  const stages = new Map(before?.items.map(({ id, stage }) => [id, stage]));
  const moved = changed.filter(({ id, stage }) => before !== undefined && stages.get(id) !== stage);
  for (const { partner } of moved) {
    void client.invalidateQueries({ queryKey: ['points', partner.id] });
    void client.invalidateQueries({ queryKey: ['quote', partner.id] });
    void client.invalidateQueries({ queryKey: ['limits', partner.id] });
  }
}

/** @param page the complete newest page, where it is known; older loaded pages stay */
function merged(known: Redemptions, changed: readonly Redemption[], page?: Page): Redemptions {
  const hadPages = known.items.length > 0 && known.next !== undefined;
  return {
    items: byId(known.items, changed),
    next: page === undefined || hadPages ? known.next : page.next,
  };
}

/** Keeps the newer version of each redemption; an ended redemption is never replaced by an open one. */
function byId(known: readonly Redemption[], changed: readonly Redemption[]): readonly Redemption[] {
  const all = new Map(known.map((one) => [one.id, one]));
  for (const one of changed) {
    const before = all.get(one.id);
    if (before === undefined || !hasEnded(before) || hasEnded(one)) all.set(one.id, one);
  }
  // Version 7 UUIDs begin with their creation time.
  return [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

function useForgottenClaims(redemptions: Redemptions | undefined): void {
  useEffect(() => {
    for (const one of redemptions?.items ?? []) if (hasEnded(one)) claimsStore.forget(one.id);
  }, [redemptions]);
}

export function cardId({ id }: Pick<Redemption, 'id'>): string {
  return `redemption-${id}`;
}
