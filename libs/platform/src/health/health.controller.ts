import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { type HealthReport, HealthRegistry } from './health.registry.js';

/** What this controller needs of a reply, whatever the HTTP server. */
interface StatusReply {
  status(code: number): unknown;
}

/** `GET /health/live`: the process runs. `GET /health/ready`: it can serve, or 503 and why not. */
@Controller('health')
export class HealthController {
  constructor(private readonly registry: HealthRegistry) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: StatusReply): Promise<HealthReport> {
    const report = await this.registry.report();
    if (report.status !== 'ready') reply.status(HttpStatus.SERVICE_UNAVAILABLE);
    return report;
  }
}
