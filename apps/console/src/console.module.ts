import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER, ManagementModule, type Registry } from '#libs/service';
import { ConsoleSettings } from './console.env.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { PlayerModule } from './player/player.module.js';

export interface ConsoleTools {
  readonly settings: ConsoleSettings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly registry: Registry;
}

/** The server of the web pages. */
@Module({ imports: [HttpModule, HealthModule, PlayerModule] })
export class ConsoleModule {
  static register({ settings, logger, clock, registry }: ConsoleTools): DynamicModule {
    const { consoleManagementPort: port, consoleHost: host } = settings;
    const address = port === undefined ? undefined : { port, host };
    return {
      module: ConsoleModule,
      imports: [
        SettingsModule.register({ settings, logger, clock }),
        ManagementModule.register({ app: 'console', registry, address }),
      ],
    };
  }
}

/** The settings and the tools of the process, for all other modules. */
@Module({})
class SettingsModule {
  static register({ settings, logger, clock }: Omit<ConsoleTools, 'registry'>): DynamicModule {
    const providers = [
      { provide: ConsoleSettings, useValue: settings },
      { provide: CLOCK, useValue: clock },
      { provide: LOGGER, useValue: logger },
    ];
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}
