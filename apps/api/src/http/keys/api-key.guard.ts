import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api.error.js';

/** Lets callers with a valid key through. Guards run before pipes: who calls comes before what is asked. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { admission } = context.switchToHttp().getRequest<FastifyRequest>();
    if (admission?.caller === undefined) throw ApiError.unauthorized();
    return true;
  }
}
