import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { AnswerKeys, KeyRing } from '#libs/signing';
import { ApiSettings } from './api.env.js';
import { REDIS_DEADLINE_MS } from './connections.module.js';
import { EXPORT_IDLE_MS } from './days/export/day-exports.service.js';
import { SLOW_READ_MS } from './snapshots/stake-sets.js';

export interface ApiOptions {
  readonly settings: ApiSettings;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Longest time for a Redis command; default: 50. */
  readonly redisDeadlineMs?: number | undefined;
  /** Time after which a read of the index no longer holds up other reads; default: 100. */
  readonly slowReadMs?: number | undefined;
  /** Time without progress after which the reader of a list is disconnected; default: 30,000. */
  readonly exportIdleMs?: number | undefined;
}

@Module({})
export class SettingsModule {
  /** @throws PermanentError where the key is wrong; the message does not contain the key */
  static register(options: ApiOptions): DynamicModule {
    const { settings, logger, clock, redisDeadlineMs, slowReadMs, exportIdleMs } = options;
    const keyRing = KeyRing.parse(settings.secretsKey);
    const providers = [
      { provide: ApiSettings, useValue: settings },
      { provide: KeyRing, useValue: keyRing },
      { provide: AnswerKeys, useValue: new AnswerKeys(keyRing) },
      { provide: LOGGER, useValue: logger },
      { provide: CLOCK, useValue: clock },
      { provide: REDIS_DEADLINE_MS, useValue: redisDeadlineMs },
      { provide: SLOW_READ_MS, useValue: slowReadMs },
      { provide: EXPORT_IDLE_MS, useValue: exportIdleMs },
    ];
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}
