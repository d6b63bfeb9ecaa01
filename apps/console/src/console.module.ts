import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { type SettingsSource } from '#libs/config';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ConsoleSettings, SETTINGS_SOURCE } from './console.env.js';
import { HealthModule } from './health/health.module.js';
import { CsrfGuard } from './http/csrf.guard.js';
import { OperateModule } from './operate/operate.module.js';
import { PortalModule } from './portal/portal.module.js';
import { SecretsModule } from './secrets.module.js';
import { PlayerModule } from './player/player.module.js';

interface ConsoleTools {
  readonly settings: ConsoleSettings;
  readonly source: SettingsSource;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The server of the web pages. The CSRF guard runs before the routes of all areas. */
@Module({
  imports: [
    ScheduleModule.forRoot(),
    HealthModule,
    SecretsModule,
    AuthModule,
    ApprovalsModule,
    OperateModule,
    PlayerModule,
    PortalModule,
  ],
  providers: [{ provide: APP_GUARD, useClass: CsrfGuard }],
})
export class ConsoleModule {
  /** @param global global modules: the settings, the connections, and the metrics and health routes */
  static register(...global: DynamicModule[]): DynamicModule {
    return { module: ConsoleModule, imports: global };
  }
}

/** Provides the settings, the clock and the logger to all other modules. */
@Module({})
export class SettingsModule {
  static register({ settings, source, logger, clock }: ConsoleTools): DynamicModule {
    const providers = [
      { provide: ConsoleSettings, useValue: settings },
      { provide: SETTINGS_SOURCE, useValue: source },
      { provide: CLOCK, useValue: clock },
      { provide: LOGGER, useValue: logger },
    ];
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}
