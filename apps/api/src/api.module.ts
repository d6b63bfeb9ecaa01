import { type DynamicModule, Module } from '@nestjs/common';
import { ManagementModule } from '#libs/service';
import { AuthModule } from './auth/auth.module.js';
import { ConnectionsModule } from './connections.module.js';
import { AnswerKeysController } from './http/answer-keys.controller.js';
import { DaysModule } from './days/days.module.js';
import { HealthModule } from './health/health.module.js';
import { HistoryController } from './history/history.controller.js';
import { MessageSignatures } from './http/message-signatures.js';
import { SignedWire } from './http/signed-wire.js';
import { type ApiOptions, SettingsModule } from './settings.module.js';
import { SnapshotsModule } from './snapshots/snapshots.module.js';

@Module({})
export class ApiModule {
  static register(options: ApiOptions): DynamicModule {
    const { managementPort: port, listenHost: host } = options.settings;
    const address = port === undefined ? undefined : { port, host };
    return {
      module: ApiModule,
      imports: [
        SettingsModule.register(options),
        ConnectionsModule,
        ManagementModule.register({ app: 'api', address }),
        AuthModule,
        SnapshotsModule,
        DaysModule,
        HealthModule,
      ],
      controllers: [AnswerKeysController, HistoryController],
      providers: [SignedWire, MessageSignatures],
    };
  }
}
