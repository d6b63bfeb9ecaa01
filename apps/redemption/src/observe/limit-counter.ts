import { Counter, type Registry } from '#libs/service';
import { LIMIT_NAMES, type LimitName } from '../http/request-limits.js';

/** Counts requests that were refused for going too fast. */
export function limitCounter(registry: Registry): (limit: LimitName) => void {
  const refused = new Counter({
    name: 'lowmark_rate_limited_total',
    help: 'Requests refused with 429, by whose limit it was',
    labelNames: ['limit'],
    registers: [registry],
  });
  for (const limit of LIMIT_NAMES) refused.inc({ limit }, 0);
  return (limit) => {
    refused.inc({ limit });
  };
}
