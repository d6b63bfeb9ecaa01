import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type FastifyRequest } from 'fastify';
import { type OperatorRole } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { SignInLimits } from '#libs/sign-in';
import { mayActAs } from './operator-roles.js';
import { type CurrentSession, Sessions } from './sessions.js';
import { signInProblem } from './sign-in.problem.js';

/** Keys of the metadata that the decorators of audience.ts set on a route. */
export const AUDIENCE = Symbol('audience');
export const FRESH = Symbol('fresh sign-in');

export type Audience =
  | { readonly kind: 'anyone' | 'player' | 'partner' | 'signed-in' }
  | { readonly kind: 'operator'; readonly role: OperatorRole };

/**
 * Sent by a page with the requests that it makes without a user action. Such a request does not prolong the session.
 */
export const BACKGROUND_HEADER = 'x-background';

/** Admits a request whose session fits the audience of the route; see audience.ts. */
@Injectable()
export class AudienceGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: Sessions,
    private readonly limits: SignInLimits,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 401, 403, 429; DatabaseUnavailableError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const targets = [context.getHandler(), context.getClass()];
    const audience = this.reflector.getAllAndOverride<Audience>(AUDIENCE, targets);
    const session = await this.sessionOf(request);
    requireAudience(session, audience);
    const isFreshOnly = this.reflector.getAllAndOverride<boolean | undefined>(FRESH, targets);
    if (isFreshOnly === true && this.clock.nowMs() >= session.freshUntilMs) {
      throw signInProblem('FRESH_SIGN_IN_NEEDED');
    }
    return true;
  }

  private async sessionOf(request: FastifyRequest): Promise<CurrentSession> {
    if (this.sessions.tokenOf(request) === undefined) throw signInProblem('SIGN_IN_NEEDED');
    const isUse = request.headers[BACKGROUND_HEADER] === undefined;
    const session = await this.sessions.find(request, { isUse });
    if (session !== undefined) return session;
    await this.limits.missed(request.ip);
    throw signInProblem('SESSION_ENDED');
  }
}

function requireAudience({ standing }: CurrentSession, audience: Audience): void {
  if (audience.kind === 'signed-in') return;
  if (audience.kind !== standing.kind) throw signInProblem('WRONG_AUDIENCE');
  if (audience.kind !== 'operator' || standing.kind !== 'operator') return;
  if (!mayActAs(standing.role, audience.role)) throw signInProblem('ROLE_TOO_LOW');
}
