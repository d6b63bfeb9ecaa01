import { type INestApplication } from '@nestjs/common';
import { describeApi, type OpenApi } from '#libs/openapi';
import { AuthModule } from '../auth/auth.module.js';
import { ChainModule } from '../chain/chain.module.js';
import { LiveModule } from '../live/live.module.js';
import { PartnersModule } from '../partner/partners.module.js';
import { RedemptionsModule } from '../redemptions/redemptions.module.js';

/** The contract of the service, from its controllers and DTOs; a test holds the answers of the real service against it. */
export function openApiOf(app: INestApplication): OpenApi {
  return describeApi(app, {
    title: 'Lowmark redemption',
    version: '2026-11-21',
    description:
      'Points become tokens. Changes are additive only; expect new fields and error messages.',
    modules: [ChainModule, AuthModule, PartnersModule, RedemptionsModule, LiveModule],
    security: ['session', { type: 'http', scheme: 'bearer' }],
  });
}
