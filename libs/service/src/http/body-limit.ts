import { RouteConfig } from '@nestjs/platform-fastify';
import { type FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `BodyLimit`. */
    bodyLimit?: number;
  }
}

/** Sets the body limit of a route in bytes, in place of the server's limit. */
export function BodyLimit(bytes: number): MethodDecorator {
  return RouteConfig({ bodyLimit: bytes });
}

/** Applies the limits that `BodyLimit` sets to the routes that are added from now on. */
export function applyBodyLimits(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const bytes = route.config?.bodyLimit;
    if (bytes !== undefined) route.bodyLimit = bytes;
  });
}
