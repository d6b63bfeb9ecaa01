import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { playerApi } from '../../api/player-client';
import { type Redemption } from '../config';
import { refreshPoints } from '../partners/partner-queries';
import { claimsStore } from './claims-store';
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
const LARGEST_PAGE = 100;
const POLL_MS = 3_000;
const REST_MS = 30_000;
const NOTHING: Redemptions = { items: [], next: undefined };

const keyOf = (wallet: string) => ['redemptions', wallet] as const;

/** The wallet's redemptions. One request reads the newest page, and all that are open. */
export function useRedemptions(wallet: string) {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: keyOf(wallet),
    queryFn: async () => {
      const open = client.getQueryData<Redemptions>(keyOf(wallet))?.items.findLastIndex(isOpen);
      const limit = Math.min(Math.max(PAGE, (open ?? 0) + 1), LARGEST_PAGE);
      const page = await loadPage(wallet, { limit });
      const before = client.getQueryData<Redemptions>(keyOf(wallet));
      refreshChanged(client, before, page.redemptions);
      return merged(before ?? NOTHING, page.redemptions, page);
    },
    refetchInterval: ({ state }) =>
      state.status === 'success' && !state.data?.items.some(isOpen) ? REST_MS : POLL_MS,
    retry: false,
  });
  useForgottenClaims(query.data);
  const loadMore = useCallback(async () => {
    const before = client.getQueryData<Redemptions>(keyOf(wallet))?.next ?? undefined;
    const page = await loadPage(wallet, { limit: PAGE, ...(before !== undefined && { before }) });
    client.setQueryData<Redemptions>(keyOf(wallet), (known = NOTHING) => ({
      items: byId(known.items, page.redemptions),
      next: page.next,
    }));
  }, [client, wallet]);
  return { ...query, loadMore };
}

/** Stores a redemption that this page has just created or cancelled. */
export function useTakeRedemption(wallet: string): (redemption: Redemption) => void {
  const client = useQueryClient();
  return (redemption) => {
    const before = client.getQueryData<Redemptions>(keyOf(wallet));
    refreshChanged(client, before, [redemption]);
    client.setQueryData<Redemptions>(keyOf(wallet), merged(before ?? NOTHING, [redemption]));
  };
}

const isOpen = (one: Redemption): boolean => !hasEnded(one);

interface PageQuery {
  readonly limit: number;
  readonly before?: string;
}

async function loadPage(wallet: string, query: PageQuery): Promise<Page> {
  const { data } = await playerApi.GET('/api/redemptions', { params: { query } });
  // Another tab may have signed in with another wallet, to which these redemptions belong.
  const isOurs = data?.redemptions.every((one) => one.wallet === wallet) ?? false;
  return data === undefined || !isOurs ? { redemptions: [], next: null } : data;
}

function refreshChanged(
  client: QueryClient,
  before: Redemptions | undefined,
  changed: readonly Redemption[],
): void {
  const stages = new Map(before?.items.map(({ id, stage }) => [id, stage]));
  const moved = changed.filter(({ id, stage }) => before !== undefined && stages.get(id) !== stage);
  for (const { partner } of moved) refreshPoints(client, partner.id);
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
