import { setImmediate as turn } from 'node:timers/promises';
import { Controller, type DynamicModule, Get, Header, Module } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Logger, SingleFlight, version } from '#libs/platform';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * A registry of its own for one service (never the process-wide one, so that two services can share a process): the
 * runtime's usual metrics, `lowmark_build_info`, and what the service adds under `lowmark_*`.
 *
 * @param labels of all its metrics, besides `app`
 */
export function createMetrics(
  app: string,
  labels: Readonly<Record<string, string>> = {},
): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app, ...labels });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'lowmark_build_info',
    help: 'Always 1; the label tells the version',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: version() }, 1);
  return registry;
}

/** `GET /metrics` in Prometheus' text format. */
@Controller('metrics')
class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}

/** Serves `/metrics`, unless it is served elsewhere, and provides the service's Registry everywhere: the given one, or one that it makes. */
@Module({})
export class MetricsModule {
  static register(app: string, registry?: Registry, isServed = true): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: isServed ? [MetricsController] : [],
      providers: [{ provide: Registry, useFactory: () => registry ?? createMetrics(app) }],
      exports: [Registry],
    };
  }
}

/** How the connections of a pool are used at one moment. */
export interface ConnectionUse {
  readonly idle: number;
  /** Working, or being opened. */
  readonly busy: number;
  /** Requests for a connection that found none free. */
  readonly waiting: number;
}

/** How the connections to the database are used, measured at each scrape. */
export function measureConnections(
  registry: Registry,
  database: { readonly connections: ConnectionUse },
): void {
  new Gauge({
    name: 'lowmark_database_connections',
    help: 'Connections of the pool by state, and how many requests wait for one',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      // A pool hands out its idle connections a moment later: what asked just now (for other figures, too) does not wait.
      await turn();
      const { idle, busy, waiting } = database.connections;
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

/** Whether Redis is used now. @param shared what replicas share through it, for the help text */
export function measureRedis(
  registry: Registry,
  redis: { readonly isUp: boolean },
  shared: string,
): void {
  new Gauge({
    name: 'lowmark_redis_up',
    help: `1 while ${shared} are shared through Redis, 0 while each replica goes by itself`,
    registers: [registry],
    collect() {
      this.set(redis.isUp ? 1 : 0);
    },
  });
}

export interface NamedGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
}

/**
 * Gauges of one reading, which is made when the metrics are read: from the database, so that it tells of all processes.
 * @param failure what is logged where it cannot be read; the gauges are empty then
 * @returns adds a gauge
 */
export function readingGauges<T>(
  { registry, logger }: { readonly registry: Registry; readonly logger: Logger },
  read: () => Promise<T>,
  failure: string,
): (named: NamedGauge, fill: (reading: T, gauge: Gauge) => void) => void {
  // One reading serves all gauges of a scrape.
  const readings = new SingleFlight<{ readonly reading: T } | undefined>();
  const readOrTell = async () => {
    try {
      return { reading: await read() };
    } catch (err) {
      logger.warn({ err }, failure);
      return undefined;
    }
  };
  return (named, fill) => {
    new Gauge({
      ...named,
      registers: [registry],
      async collect() {
        const found = await readings.run(readOrTell);
        // An old figure is worse than none. In one go with the new one: two scrapes share a reading.
        this.reset();
        if (named.labelNames === undefined) this.remove();
        if (found !== undefined) fill(found.reading, this);
      },
    });
  };
}
