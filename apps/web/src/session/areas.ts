import { type Kind } from './use-session';

export const AREA_OF = { operator: '/operate', partner: '/partner' } as const;

/** The place to return to after a sign-in: only pages of the area are accepted, whatever the address says. */
export function returnPlace(kind: Kind, search: string): string {
  const area = AREA_OF[kind];
  const wanted = new URLSearchParams(search).get('returnTo') ?? area;
  if (!URL.canParse(wanted, location.origin)) return area;
  const { origin, pathname, search: query, hash } = new URL(wanted, location.origin);
  const isOwn = origin === location.origin && `${pathname}/`.startsWith(`${area}/`);
  return isOwn && !pathname.startsWith(`${area}/sign-in`) ? `${pathname}${query}${hash}` : area;
}

/** @param hasEnded whether the session has ended, which the sign-in page reports */
export function signInPlace(kind: Kind, hasEnded: boolean): string {
  const { pathname, search, hash } = location;
  const query = new URLSearchParams({ returnTo: `${pathname}${search}${hash}` });
  if (hasEnded) query.set('ended', '');
  return `${AREA_OF[kind]}/sign-in?${query.toString()}`;
}

/** The token of a link. It is removed from the address, so that the browser's history does not keep it. */
export function takeToken(): string {
  const token = location.hash.slice(1);
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return token;
}
