import { setImmediate as turn } from 'node:timers/promises';
import { Controller, type DynamicModule, Get, Header, Module } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Logger, SingleFlight, version } from '#libs/platform';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Creates the registry of one service (not the process-wide registry, so that two services can share a process). It
 * contains the runtime's default metrics and `lowmark_build_info`; the service adds its metrics as `lowmark_*`.
 *
 * @param labels of all its metrics, besides `app`
 */
export function createMetrics(
  app: string,
  labels: Readonly<Record<string, string>> = {},
): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app, ...labels });
  // The default of 10 ms wakes an idle process 100 times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  new Gauge({
    name: 'lowmark_build_info',
    help: 'Always 1; the label tells the version',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: version() }, 1);
  return registry;
}

@Controller('metrics')
class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}

/**
 * Serves `/metrics`, unless the management server does, and provides the service's Registry globally: the given one or
 * a new one.
 */
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

export interface ConnectionUse {
  readonly idle: number;
  /** Connections that run a query or are being opened. */
  readonly busy: number;
  /** Requests that wait for a free connection. */
  readonly waiting: number;
}

/** A gauge of the connections to the database, measured at each scrape. */
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
      // A pool assigns its idle connections only in a later turn of the event loop: a request of this very turn (for
      // other metrics, too) must not count as waiting.
      await turn();
      const { idle, busy, waiting } = database.connections;
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

/** A gauge of whether Redis is used. @param shared what replicas share through Redis, for the help text */
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
 * Makes gauges from one reading of the database at each scrape, so that they cover all processes.
 * @param failure log message where the reading fails; the gauges are empty in this case
 * @returns a function that adds a gauge
 */
export function gaugesOfOneRead<T>(
  { registry, logger }: { readonly registry: Registry; readonly logger: Logger },
  read: () => Promise<T>,
  failure: string,
): (named: NamedGauge, fill: (reading: T, gauge: Gauge) => void) => void {
  // Coalesces the reads of all gauges of a scrape.
  const readings = new SingleFlight<{ readonly reading: T } | undefined>();
  const readOrLog = async () => {
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
        const found = await readings.run(readOrLog);
        // Stale values are worse than none. No await between reset and fill: two scrapes can share a reading.
        this.reset();
        if (named.labelNames === undefined) this.remove();
        if (found !== undefined) fill(found.reading, this);
      },
    });
  };
}
