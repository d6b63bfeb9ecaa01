import { type INestApplication } from '@nestjs/common';
import { describeApi, type OpenApi } from '#libs/openapi';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { OperateModule } from '../operate/operate.module.js';

/** What the pages of operators and partners ask for. What players ask for is in the contract of the redemption service. */
export function openApiOf(app: INestApplication): OpenApi {
  return describeApi(app, {
    title: 'Lowmark console',
    version: '2026-11-23',
    description:
      'For the pages of this version, which are served with it; it changes as they do. Requests that change something need `X-CSRF-Token`.',
    modules: [AuthModule, ApprovalsModule, OperateModule],
    security: ['session', { type: 'apiKey', in: 'cookie', name: 'lowmark-console' }],
  });
}
