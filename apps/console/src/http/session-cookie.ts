import { createHash, timingSafeEqual } from 'node:crypto';
import { type FastifyReply, type FastifyRequest } from 'fastify';

/** Areas with sessions of their own, and the path of each session cookie. `console` serves operators and partners. */
export const AREAS = { player: '/player', console: '/' } as const;
export type Area = keyof typeof AREAS;

/**
 * Decides by the pattern of the route. The path of the request may be percent-encoded and still lead to the same route.
 */
export function areaOf({ routeOptions }: FastifyRequest): Area {
  return routeOptions.url?.startsWith(`${AREAS.player}/`) === true ? 'player' : 'console';
}

/** Header by which a page proves that it can read the cookies of this origin. */
export const CSRF_HEADER = 'x-csrf-token';

/**
 * The two cookies of a session.
 * The session cookie holds the token; scripts cannot read it, and browsers send it to the paths of its area only. The
 * CSRF cookie holds `csrfTokenOf(token)`, which pages send as `X-CSRF-Token` and from which the token cannot be
 * derived.
 * With https the names have the prefix `__Host-`: browsers then refuse a cookie that a neighbouring host or plain http
 * has set. The session cookie of players has a path other than `/`, so its prefix is `__Secure-`, which only keeps out
 * cookies set over plain http.
 */
export class SessionCookie {
  private readonly isSecure: boolean;
  private readonly name: string;
  private readonly csrfName: string;
  private readonly path: string;

  constructor(area: Area, consoleOrigin: string) {
    this.isSecure = consoleOrigin.startsWith('https:');
    this.path = AREAS[area];
    const prefix = this.path === '/' ? '__Host-' : '__Secure-';
    this.name = `${this.isSecure ? prefix : ''}lowmark-${area}`;
    this.csrfName = `${this.isSecure ? '__Host-' : ''}lowmark-${area}-csrf`;
  }

  /** The session token of the request, if it has one. Whether a session with this token exists is not checked. */
  read({ cookies }: FastifyRequest): string | undefined {
    const token = cookies[this.name];
    return token === '' ? undefined : token;
  }

  /** @param token at least 128 random bits, in characters that a cookie allows */
  set(reply: FastifyReply, token: string, maxAgeSeconds: number): void {
    const maxAge = Math.max(0, Math.floor(maxAgeSeconds));
    void reply.setCookie(this.name, token, { ...this.hidden, maxAge });
    void reply.setCookie(this.csrfName, csrfTokenOf(token), { ...this.readable, maxAge });
  }

  clear(reply: FastifyReply): void {
    void reply.clearCookie(this.name, this.hidden);
    void reply.clearCookie(this.csrfName, this.readable);
  }

  private get hidden() {
    return { ...this.shared, httpOnly: true, path: this.path };
  }

  /** Path `/`: `__Host-` demands it, and pages outside the area's path read this cookie. */
  private get readable() {
    return { ...this.shared, httpOnly: false, path: '/' };
  }

  private get shared() {
    return { sameSite: 'strict', secure: this.isSecure } as const;
  }
}

/** Value of `X-CSRF-Token`. Only a page that can read the session's cookies, or knows the token, can send it. */
export function csrfTokenOf(token: string): string {
  return createHash('sha256').update(`lowmark-csrf:${token}`).digest('base64url');
}

export function isCsrfTokenOf(token: string, sent: string): boolean {
  const [expected, given] = [Buffer.from(csrfTokenOf(token)), Buffer.from(sent)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}
