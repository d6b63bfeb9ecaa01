import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { HttpProblem } from '#libs/service';
import { type Admission, type Caller } from './admission.js';

/** Lets callers with a valid key through. Guards run before pipes: who calls comes before what is asked. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    requireCaller(context.switchToHttp().getRequest<FastifyRequest>().admission);
    return true;
  }
}

/** @throws HttpProblem 401 */
export function requireCaller(admission: Admission | null): Caller {
  if (admission?.caller !== undefined) return admission.caller;
  throw new HttpProblem(401, 'The X-API-KEY header is missing or is not a valid key.');
}
