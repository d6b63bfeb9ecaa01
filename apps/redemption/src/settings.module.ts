import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { Alerts } from './observe/alerts.js';
import { RedemptionSettings } from './redemption.env.js';

interface Tools {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

/** The settings, the keys in them, and the tools of the process, for all other modules. */
@Module({})
export class SettingsModule {
  /** @throws PermanentError where a key is wrong; no message repeats it */
  static register(settings: RedemptionSettings, { clock, logger, alerts }: Tools): DynamicModule {
    const providers = [
      { provide: RedemptionSettings, useValue: settings },
      { provide: KeyRing, useValue: KeyRing.parse(settings.secretsKey) },
      { provide: EvidenceKeys, useValue: EvidenceKeys.parse(settings.evidenceKey) },
      { provide: CLOCK, useValue: clock },
      { provide: LOGGER, useValue: logger },
      { provide: Alerts, useValue: alerts },
    ];
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}
