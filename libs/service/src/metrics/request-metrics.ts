import { type FastifyInstance } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/**
 * A histogram of the time to answer, by route and status.
 * @param name of the histogram, in seconds
 */
export function measureRequests(fastify: FastifyInstance, registry: Registry, name: string): void {
  const seconds = new Histogram({
    name,
    help: 'Time from the first hook to the last byte of an answer',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const labels = {
      // The pattern of the route: an arbitrary path must not create a time series.
      route: request.routeOptions.url ?? 'none',
      method: request.method,
      status: reply.statusCode,
    };
    seconds.observe(labels, reply.elapsedTime / 1000);
    done();
  });
}
