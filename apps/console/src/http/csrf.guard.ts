import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { HttpProblem } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { type Area, areaOf, CSRF_HEADER, isCsrfTokenOf, SessionCookie } from './session-cookie.js';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Admits a request that changes something only where a page of this console has sent it. Runs before every route.
 * 1. The browser confirms this origin by `Origin`, `Sec-Fetch-Site` or both.
 * 2. The request has the header `X-CSRF-Token`, which no form can send. In a session its value must be that of the
 *    session (`csrfTokenOf`); without a session any value passes.
 */
@Injectable()
export class CsrfGuard implements CanActivate {
  private readonly origin: string;
  private readonly cookies: Readonly<Record<Area, SessionCookie>>;

  constructor({ consoleOrigin }: ConsoleSettings) {
    this.origin = consoleOrigin;
    const cookieOf = (area: Area) => new SessionCookie(area, consoleOrigin);
    this.cookies = { player: cookieOf('player'), console: cookieOf('console') };
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (READING.has(request.method)) return true;
    this.requireOwnOrigin(request);
    this.requireToken(request);
    return true;
  }

  private requireOwnOrigin({ headers }: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = headers;
    const isOwn =
      (origin ?? this.origin) === this.origin && (site ?? 'same-origin') === 'same-origin';
    if (isOwn && (origin !== undefined || site !== undefined)) return;
    const message = `Only the pages at ${this.origin} may ask for this. Are you on them? Then CONSOLE_ORIGIN has to be what the browser shows.`;
    throw new HttpProblem(403, message, { code: 'FOREIGN_ORIGIN' });
  }

  private requireToken(request: FastifyRequest): void {
    const sent = request.headers[CSRF_HEADER];
    const session = this.cookies[areaOf(request)].read(request);
    if (typeof sent === 'string' && sent !== '') {
      if (session === undefined || isCsrfTokenOf(session, sent)) return;
    }
    const message = `${CSRF_HEADER} is missing or of another session: load the page again.`;
    throw new HttpProblem(403, message, { code: 'CSRF_TOKEN' });
  }
}
