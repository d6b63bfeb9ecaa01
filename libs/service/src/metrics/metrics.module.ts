import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import { createMetrics } from './metrics.js';

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
