import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { ForPlayers } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';
import { SessionCookie } from '../http/session-cookie.js';
import { RedemptionService, type ServiceAnswer } from './redemption-service.js';

/** Format of the redemption service's session tokens. A cookie with any other value counts as no token. */
const TOKEN = /^svct_[A-Za-z0-9_-]{43}$/;
/** Captures the path of the redemption service, behind `/player`. An origin may come first (RFC 9112, 3.2.2). */
const PATH = /^(?:https?:\/\/[^/?#]*)?\/player(\/api\/.*)$/i;

interface SignedIn {
  readonly token: string;
  readonly wallet: string;
  readonly expiresAt: string;
}

/**
 * The redemption service's API for the players' page, at the same paths below `/player`.
 * The session token stays between the console and the browser's cookie, which no script of the page can read. Only the
 * routes of this controller lead to the service.
 */
@ForPlayers()
@Controller('player/api')
export class PlayerApiController {
  private readonly cookie: SessionCookie;

  constructor(
    private readonly service: RedemptionService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly settings: ConsoleSettings,
  ) {
    this.cookie = new SessionCookie('player', settings.consoleOrigin);
  }

  @Get([
    'chain',
    'partners',
    'partners/:partner/points',
    'points',
    'partners/:partner/quote',
    'partners/:partner/limits',
    'redemptions',
    'redemptions/:id',
  ])
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pass(request, reply);
  }

  @Post(['auth/nonce', 'redemptions', 'redemptions/:id/cancel'])
  async change(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.pass(request, reply);
  }

  /** Puts the session token into a cookie. The page gets the wallet and the end of the session only. */
  @Post('auth/verify')
  async verify(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const answer = await this.service.ask(request, '/api/auth/verify');
    if (answer.status !== 200) {
      this.logForeignDomain(answer);
      send(reply, answer);
      return;
    }
    const { token, wallet, expiresAt } = signedIn(answer.body);
    const seconds = (Date.parse(expiresAt) - this.clock.nowMs()) / 1000;
    this.cookie.set(reply, token, seconds);
    void reply.code(200).send({ wallet, expiresAt });
  }

  /** Removes the cookie in any case. The answer of the redemption service says whether the session has ended there. */
  @Post('auth/logout')
  @HttpCode(204)
  async logOut(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const token = this.tokenOf(request);
    this.cookie.clear(reply);
    send(reply, await this.service.ask(request, '/api/auth/logout', token));
  }

  private logForeignDomain({ status, body }: ServiceAnswer): void {
    if (status !== 401 || !/"SIWE_(?:DOMAIN|URI)"/.test(body.toString())) return;
    const { host } = new URL(this.settings.consoleOrigin);
    this.logger.warn({ host }, 'A sign-in was refused: SIWE_DOMAINS of redemption needs this host');
  }

  private async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = this.tokenOf(request);
    const answer = await this.service.ask(request, pathOf(request), token);
    if (answer.status === 401 && token !== undefined) this.cookie.clear(reply);
    send(reply, answer);
  }

  private tokenOf(request: FastifyRequest): string | undefined {
    const token = this.cookie.read(request);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }
}

/**
 * @throws HttpProblem 404 where the URL writes `/player/api/` with percent-encoding: the router matches the decoded
 * path, but only the plain prefix can be cut off
 */
function pathOf({ url }: FastifyRequest): string {
  const path = PATH.exec(url)?.[1];
  if (path === undefined) throw new HttpProblem(404, 'The path must begin with /player/api/.');
  return path;
}

function send(reply: FastifyReply, { status, headers, body }: ServiceAnswer): void {
  void reply
    .code(status)
    .headers(headers)
    .send(body.length > 0 ? body : undefined);
}

function signedIn(body: Buffer): SignedIn {
  try {
    const { token, wallet, expiresAt } = JSON.parse(body.toString()) as Partial<SignedIn>;
    if (token !== undefined && TOKEN.test(token) && wallet !== undefined) {
      if (!Number.isNaN(Date.parse(expiresAt ?? ''))) {
        return { token, wallet, expiresAt: expiresAt ?? '' };
      }
    }
  } catch {
    // The problem below reports the fault, without the text of the answer.
  }
  throw new HttpProblem(502, 'The redemption service answered something else than a session.', {
    code: 'UNEXPECTED_ANSWER',
  });
}
