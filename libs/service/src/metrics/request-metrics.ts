import { type FastifyInstance } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/**
 * How long answers take, by route and status; the number of answers is in it.
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
    // How long a stream goes on is its client's choice.
    if (reply.getHeader('content-type') === 'text/event-stream') {
      done();
      return;
    }
    const labels = {
      // The route's own pattern: a made-up path must not become a time series.
      route: request.routeOptions.url ?? 'none',
      method: request.method,
      status: reply.statusCode,
    };
    seconds.observe(labels, reply.elapsedTime / 1000);
    done();
  });
}
