import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { RequestLimits } from '../http/request-limits.js';

/** Nobody is signed in yet: the client's address is what can be limited. */
@Injectable()
export class SignInLimitGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.signIn(context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}
