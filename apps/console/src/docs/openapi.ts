import { type INestApplication } from '@nestjs/common';
import { describeApi, type OpenApi } from '#libs/openapi';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { OperateModule } from '../operate/operate.module.js';
import { PortalModule } from '../portal/portal.module.js';

/**
 * The contract of the console with its pages, from its controllers and DTOs. The contract of the redemption service
 * describes the routes that the console forwards for players.
 */
export function openApiOf(app: INestApplication): OpenApi {
  return describeApi(app, {
    title: 'Lowmark console',
    version: '2026-11-23',
    description: 'For the pages of the console itself, which are built with it.',
    modules: [AuthModule, ApprovalsModule, OperateModule, PortalModule],
    security: ['session', { type: 'apiKey', in: 'cookie', name: 'lowmark-console' }],
  });
}
