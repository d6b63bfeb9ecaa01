import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MetricsController } from './metrics.controller.js';
import { createMetrics } from './metrics.js';

/** Serves `/metrics` and provides the service's Registry everywhere. */
@Module({})
export class MetricsModule {
  static register(app: string): DynamicModule {
    return {
      module: MetricsModule,
      global: true,
      controllers: [MetricsController],
      providers: [{ provide: Registry, useFactory: () => createMetrics(app) }],
      exports: [Registry],
    };
  }
}
