import { type Redis } from 'ioredis';
import { inChildSpan, tracingIsOn } from '#libs/platform';

interface RoundTrips {
  run<T>(send: (redis: Redis) => Promise<T>): Promise<T>;
}

/**
 * The link itself, with a span for each command that belongs to an open span: its name, never its keys. What several requests ask in one
 * turn is one command, and belongs to the first of them. Where traces are off nothing is changed.
 */
export function traceRoundTrips<L extends RoundTrips>(link: L): L {
  if (!tracingIsOn()) return link;
  const run = link.run.bind(link);
  const traced: RoundTrips = {
    run: (send) =>
      inChildSpan(
        { name: 'redis', kind: 'client', attributes: { 'db.system.name': 'redis' } },
        (span) => {
          const tell = (command: string): void => {
            span.note({ 'db.operation.name': command.toUpperCase() });
          };
          return run((redis) => send(telling(redis, tell)));
        },
      ),
  };
  return Object.assign(link, traced);
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
