import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import * as oidc from 'openid-client';
import { LOGIN_ATTEMPT_MS, LoginAttemptStore, type Standing } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { SignInLimits } from '#libs/sign-in';
import { ConsoleSettings } from '../console.env.js';
import { type OidcStart, type OidcStarted } from './auth.dto.js';
import { OidcProvider } from './oidc-provider.js';
import { SESSION_HOURS } from './session-hours.js';
import { signInProblem } from './sign-in.problem.js';
import { type RequestAndReply, SignInService } from './sign-in.service.js';

const PATH = '/api/auth/oidc';
const LONGEST_PATH = 2048;
/** Paths of the pages that need a sign-in. */
const SIGNED_IN_PAGES = /^\/(?:operate|partner)(?:[/?#]|$)/;

/**
 * Content of the cookie of the browser that began the sign-in. The issuer's answer is refused from any other browser.
 */
interface SignInCookie {
  readonly kind: Standing['kind'];
  readonly state: string;
  readonly invitation: string;
}

/** Sign-in by OpenID Connect: `begin` sends the browser to the issuer, `end` handles its return. */
@Injectable()
export class OidcSignIn {
  private readonly cookieName: string;

  constructor(
    private readonly provider: OidcProvider,
    private readonly attempts: LoginAttemptStore,
    private readonly signIns: SignInService,
    private readonly limits: SignInLimits,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.cookieName = `${this.isSecure ? '__Secure-' : ''}lowmark-sign-in`;
  }

  /** @throws HttpProblem 400, 404, 503; DatabaseUnavailableError */
  async begin(
    reply: FastifyReply,
    { kind, invitation = '', ...wish }: OidcStart,
  ): Promise<OidcStarted> {
    const returnTo = returnPath(wish.returnTo, this.settings.consoleOrigin);
    const state = oidc.randomState();
    const [codeVerifier, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomNonce()];
    const maxAge = wish.fresh === true ? 0 : SESSION_HOURS * 3600;
    const url = await this.provider.authorizationUrl({ state, nonce, codeVerifier }, maxAge);
    const attempt = { kind, codeVerifier, nonce, returnTo };
    await this.attempts.begin(sha256(state), attempt, this.clock.nowMs());
    const maxAgeSeconds = LOGIN_ATTEMPT_MS / 1000;
    const cookie = [kind, state, invitation].join('.');
    void reply.setCookie(this.cookieName, cookie, { ...this.cookieOptions, maxAge: maxAgeSeconds });
    return { url };
  }

  /** @returns the path to redirect to: the requested page, or the sign-in page with the code of the error */
  async end(exchange: RequestAndReply): Promise<string> {
    const { request, reply } = exchange;
    const begun = this.begunBy(request);
    void reply.clearCookie(this.cookieName, this.cookieOptions);
    let returnTo: string | undefined;
    try {
      await this.limits.signIn(request.ip);
      const query = new URL(request.url, this.settings.consoleOrigin).searchParams;
      if (begun === undefined || query.get('state') !== begun.state) {
        throw signInProblem('OIDC_STATE');
      }
      const { kind, state, invitation } = begun;
      const attempt = await this.attempts.take(sha256(state), this.clock.nowMs());
      if (attempt?.kind !== kind) throw signInProblem('OIDC_STATE');
      returnTo = attempt.returnTo;
      const wish = { kind, invitation: invitation || undefined };
      const authenticate = () =>
        this.provider.personOf(`?${query.toString()}`, { state, ...attempt });
      await this.signIns.signIn(exchange, 'oidc', authenticate, wish);
      return returnTo;
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      return signInPage(begun?.kind ?? 'operator', error.code, returnTo);
    }
  }

  private begunBy(request: FastifyRequest): SignInCookie | undefined {
    const [kind, state, invitation = ''] = (request.cookies[this.cookieName] ?? '').split('.');
    if ((kind !== 'operator' && kind !== 'partner') || state === undefined) return undefined;
    return { kind, state, invitation };
  }

  /** `lax`, since browsers withhold a strict cookie when they come back from the issuer's site. */
  private get cookieOptions() {
    return { httpOnly: true, sameSite: 'lax', secure: this.isSecure, path: PATH } as const;
  }

  private get isSecure(): boolean {
    return this.settings.consoleOrigin.startsWith('https:');
  }
}

function signInPage(kind: Standing['kind'], problem: string, returnTo = ''): string {
  const area = kind === 'operator' ? 'operate' : 'partner';
  const query = new URLSearchParams({ problem, ...(returnTo !== '' && { returnTo }) });
  return `/${area}/sign-in?${query.toString()}`;
}

/**
 * The path to which a sign-in returns, as a URL parser reads it. A path that a browser could read as another site is
 * refused.
 * @throws HttpProblem 400
 */
function returnPath(text: string, consoleOrigin: string): string {
  if (text.length <= LONGEST_PATH && URL.canParse(text, consoleOrigin)) {
    const { origin, pathname, search, hash, username } = new URL(text, consoleOrigin);
    const path = `${pathname}${search}${hash}`;
    const isOwn = origin === consoleOrigin && username === '' && text.startsWith('/');
    if (isOwn && SIGNED_IN_PAGES.test(path) && path.length <= LONGEST_PATH) return path;
  }
  throw HttpProblem.badRequest('returnTo', 'returnTo must be a path of these pages.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
