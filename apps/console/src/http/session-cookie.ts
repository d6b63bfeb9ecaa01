import { createHash, timingSafeEqual } from 'node:crypto';
import { type FastifyReply, type FastifyRequest } from 'fastify';

/** Who has sessions of their own, and the paths that their cookies go to: players, and the operators and partners of the console. */
export const AREAS = { player: '/player', console: '/' } as const;
export type Area = keyof typeof AREAS;

/** By the pattern of its route: the path itself may be encoded, and leads to the same route. */
export function areaOf({ routeOptions }: FastifyRequest): Area {
  return routeOptions.url?.startsWith(`${AREAS.player}/`) === true ? 'player' : 'console';
}

/** The header by which a page shows that it may read the cookies of this origin. */
export const CSRF_HEADER = 'x-csrf-token';

/**
 * The cookies of a session: the token itself, which no script can read and which goes to the paths of its area only; and beside it
 * what pages send as `X-CSRF-Token`, which follows from the token and from which the token does not follow.
 * With https both names have the prefix by which browsers refuse a cookie that a neighbouring host or plain http has set.
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

  /** The token of the session, if the request has one; not whether there is such a session. */
  read({ cookies }: FastifyRequest): string | undefined {
    const token = cookies[this.name];
    return token === '' ? undefined : token;
  }

  /** @param token of 128 random bits or more, in the characters of a cookie */
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

  /** `__Host-` asks for the path `/`; the pages of the area need it as well. */
  private get readable() {
    return { ...this.shared, httpOnly: false, path: '/' };
  }

  private get shared() {
    return { sameSite: 'strict', secure: this.isSecure } as const;
  }
}

/** What a page has to send with the requests of a session: only who can read its cookies, or knows its token, can. */
export function csrfTokenOf(token: string): string {
  return createHash('sha256').update(`lowmark-csrf:${token}`).digest('base64url');
}

export function isCsrfTokenOf(token: string, sent: string): boolean {
  const [expected, given] = [Buffer.from(csrfTokenOf(token)), Buffer.from(sent)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}
