import { Controller, type DynamicModule, Get, HttpStatus, Module, Res } from '@nestjs/common';
import { HealthRegistry, type HealthReport, PROCESS_CHECK } from './health.registry.js';

/** What this controller needs of a reply, whatever the HTTP server. */
interface StatusReply {
  status(code: number): unknown;
}

/**
 * `GET /health/live`: the process runs. `GET /health/ready`: it can serve, or 503 and why not. `GET /health/accepting`: send it
 * requests, be it for an answer that says why it cannot serve; 503 once it was told to end.
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
    return this.answer(reply);
  }

  @Get('accepting')
  accepting(@Res({ passthrough: true }) reply: StatusReply): Promise<HealthReport> {
    return this.answer(reply, PROCESS_CHECK);
  }

  private async answer(reply: StatusReply, only?: string): Promise<HealthReport> {
    const report = await this.registry.report(only);
    if (report.status !== 'ready') reply.status(HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }
}

/** Serves health, unless it is served elsewhere; other modules inject HealthRegistry and register their checks. */
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
