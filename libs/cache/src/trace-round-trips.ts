import { type Redis } from 'ioredis';
import { inChildSpan, tracingIsOn } from '#libs/platform';
import { type RedisLink } from './redis-link.js';

const SPAN = {
  name: 'redis',
  kind: 'client',
  attributes: { 'db.system.name': 'redis' },
} as const;

/**
 * Gives each command of the link a span below the open span, if there is one, with the name of the command and never
 * its keys. A command that serves several coalesced requests belongs to the first. Does nothing without tracing.
 */
export function traceRoundTrips(link: RedisLink): void {
  if (!tracingIsOn()) return;
  const run = link.run.bind(link);
  link.run = (send) =>
    inChildSpan(SPAN, (span) => {
      const tell = (command: string): void => {
        span.note({ 'db.operation.name': command.toUpperCase() });
      };
      return run((redis) => send(telling(redis, tell)));
    });
}

/** The client behind a proxy that calls `tell` with the name of each method that is used. */
function telling(redis: Redis, tell: (command: string) => void): Redis {
  return new Proxy(redis, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (typeof key === 'string') tell(key);
      return value.bind(target) as unknown;
    },
  });
}
