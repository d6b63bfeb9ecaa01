/** Header that proves that the console's own page sent a request; see `apps/console/src/http/session-cookie.ts`. */
export const CSRF_HEADER = 'x-csrf-token';

/** The token of an area's session; without a session any value is accepted. */
export function csrfToken(area: 'player' | 'console'): string {
  const found = new RegExp(`(?:^|; )(?:__Host-)?lowmark-${area}-csrf=([^;]+)`).exec(
    document.cookie,
  );
  return found?.[1] ?? 'none';
}
