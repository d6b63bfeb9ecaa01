import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthModule } from '../health/health.module.js';
import { HealthRegistry } from '../health/health.registry.js';
import { MetricsModule } from '../metrics/metrics.js';
import { type ManagementAddress, ManagementServer } from './management-server.js';

export interface ManagementOptions {
  readonly app: string;
  /** Default: a new registry. */
  readonly registry?: Registry;
  /** Address that serves health and metrics; where absent, the service's own port serves them. */
  readonly address?: ManagementAddress | undefined;
}

/** Health and metrics, either at the service's own port or only at a separate address. */
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
