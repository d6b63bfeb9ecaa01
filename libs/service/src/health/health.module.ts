import { Controller, type DynamicModule, Get, HttpStatus, Module, Res } from '@nestjs/common';
import { HealthRegistry, type HealthReport } from './health.registry.js';

/** The part of a reply that this controller needs, independent of the HTTP server. */
interface StatusReply {
  status(code: number): unknown;
}

/**
 * Serves three health routes.
 * - `GET /health/live`: the process runs.
 * - `GET /health/ready`: the service can serve; 503 with the reasons otherwise.
 * - `GET /health/accepting`: the process takes requests, even if its answers say that it cannot serve; 503 once the
 * process is stopping. A service that was asked it goes on for some seconds then (`HttpShutdown`).
 */
@Controller('health')
class HealthController {
  constructor(private readonly registry: HealthRegistry) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  ready(@Res({ passthrough: true }) reply: StatusReply): Promise<HealthReport> {
    return answer(reply, this.registry.report());
  }

  @Get('accepting')
  accepting(@Res({ passthrough: true }) reply: StatusReply): Promise<HealthReport> {
    return answer(reply, this.registry.accepting());
  }
}

async function answer(reply: StatusReply, asked: Promise<HealthReport>): Promise<HealthReport> {
  const report = await asked;
  if (report.status !== 'ready') reply.status(HttpStatus.SERVICE_UNAVAILABLE);
  return report;
}

/**
 * Serves the health routes, unless the management server does. Other modules inject HealthRegistry and register their
 * checks.
 */
@Module({})
export class HealthModule {
  static register(isServed = true): DynamicModule {
    return {
      module: HealthModule,
      global: true,
      controllers: isServed ? [HealthController] : [],
      providers: [HealthRegistry],
      exports: [HealthRegistry],
    };
  }
}
