import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { HttpProblem } from '#libs/service';
import {} from '#libs/service';

/** Who calls comes before what is asked. */
export function unauthorized(): HttpProblem {
  return new HttpProblem(401, 'The X-API-KEY header is missing or is not a valid key.');
}

/** Lets callers with a valid key through. Guards run before pipes: who calls comes before what is asked. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { admission } = context.switchToHttp().getRequest<FastifyRequest>();
    if (admission?.caller === undefined) throw unauthorized();
    return true;
  }
}
