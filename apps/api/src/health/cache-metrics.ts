import { type RedisLink } from '#libs/cache';
import { Counter, Gauge, type Registry } from '#libs/service';
import { type Admissions } from '../http/keys/admission.js';

/** Who is refused, and whether Redis is in use; counted in plain numbers, and handed over when somebody looks. */
export function measureSharing(
  registry: Registry,
  { admissions, redis }: { admissions: Admissions; redis: RedisLink | undefined },
): void {
  const { refused } = admissions;
  new Counter({
    name: 'lowmark_rate_limited_total',
    help: 'Requests refused with 429, by whose limit it was',
    labelNames: ['limit'],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ limit: 'partner' }, refused.partner);
      this.inc({ limit: 'address' }, refused.address);
    },
  });
  if (redis === undefined) return;
  new Gauge({
    name: 'lowmark_redis_up',
    help: '1 while limits and cached parts are shared through Redis, 0 while each replica goes by itself',
    registers: [registry],
    collect() {
      this.set(redis.isUp ? 1 : 0);
    },
  });
}
