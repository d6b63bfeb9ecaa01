import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { version } from '#libs/platform';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * A registry of its own for one service (never the process-wide one, so that two services can share a process): the
 * runtime's usual metrics, `lowmark_build_info`, and what the service adds under `lowmark_*`.
 */
export function createMetrics(app: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'lowmark_build_info',
    help: 'Always 1; the label tells the version',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: version() }, 1);
  return registry;
}
