import { type RedisLink } from '#libs/cache';
import { Gauge, type Registry } from '#libs/service';

/** Whether limits are shared now; there is no such gauge without REDIS_URL. */
export function measureRedis(registry: Registry, redis: RedisLink | undefined): void {
  if (redis === undefined) return;
  new Gauge({
    name: 'lowmark_redis_up',
    help: '1 while limits are shared through Redis, 0 while each replica goes by itself',
    registers: [registry],
    collect() {
      this.set(redis.isUp ? 1 : 0);
    },
  });
}
