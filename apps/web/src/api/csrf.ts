/** The header by which the console knows a page of its own; see `apps/console/src/http/session-cookie.ts`. */
export const CSRF_HEADER = 'x-csrf-token';

/** The value for the session of an area; without a session any value will do. */
export function csrfToken(area: 'player' | 'console'): string {
  const found = new RegExp(`(?:^|; )(?:__Host-)?lowmark-${area}-csrf=([^;]+)`).exec(
    document.cookie,
  );
  return found?.[1] ?? 'none';
}
