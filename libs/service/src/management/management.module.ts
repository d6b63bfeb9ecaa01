import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthModule } from '../health/health.module.js';
import { HealthRegistry } from '../health/health.registry.js';
import { MetricsModule } from '../metrics/metrics.js';
import { type ManagementAddress, ManagementServer } from './management-server.js';

export interface ManagementOptions {
  /** The service's name among the metrics. */
  readonly app: string;
  /** Default: one that is made here. */
  readonly registry?: Registry;
  /** Where health and metrics are served; absent: at the service's own port. */
  readonly address?: ManagementAddress | undefined;
}

/** Health and metrics: beside the service's own routes, or on a port of their own and then nowhere else. */
@Module({})
export class ManagementModule {
  static register({ app, registry, address }: ManagementOptions): DynamicModule {
    const isServed = address === undefined;
    const imports = [
      HealthModule.register(isServed),
      MetricsModule.register(app, registry, isServed),
    ];
    if (address === undefined) return { module: ManagementModule, imports };
    return {
      module: ManagementModule,
      imports,
      providers: [
        {
          provide: ManagementServer,
          inject: [HealthRegistry, Registry],
          useFactory: (health: HealthRegistry, metrics: Registry) =>
            new ManagementServer(health, metrics, address),
        },
      ],
      exports: [ManagementServer],
    };
  }
}
