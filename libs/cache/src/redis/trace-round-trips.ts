import { type Redis } from 'ioredis';
import { inChildSpan, tracingIsOn } from '#libs/platform';
import { type RedisLink } from './redis-link.js';

const SPAN = {
  name: 'redis',
  kind: 'client',
  attributes: { 'db.system.name': 'redis' },
} as const;

/**
 * From now on each command of the link has a span where it belongs to an open one: its name, never its keys. What several requests ask in
 * one turn is one command, and belongs to the first of them. Where traces are off nothing is changed.
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

/** The same client; tells which of its methods is asked for. */
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
