import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { KeyRing } from '#libs/signing';
import { ApiSettings } from './api.env.js';
import { REDIS_DEADLINE_MS } from './connections.module.js';

export interface ApiOptions {
  readonly settings: ApiSettings;
  readonly logger: Logger;
  readonly clock: Clock;
  /** How long a command to Redis may take; default: 50. */
  readonly redisDeadlineMs?: number | undefined;
}

/** The settings, the key that they hold, and the tools of the process, for all other modules. */
@Module({})
export class SettingsModule {
  /** @throws PermanentError where the key is wrong; no message repeats it */
  static register({ settings, logger, clock, redisDeadlineMs }: ApiOptions): DynamicModule {
    const providers = [
      { provide: ApiSettings, useValue: settings },
      { provide: KeyRing, useValue: KeyRing.parse(settings.secretsKey) },
      { provide: LOGGER, useValue: logger },
      { provide: CLOCK, useValue: clock },
      { provide: REDIS_DEADLINE_MS, useValue: redisDeadlineMs },
    ];
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}
