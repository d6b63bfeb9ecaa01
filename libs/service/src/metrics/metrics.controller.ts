import { Controller, Get, Header } from '@nestjs/common';
import { Registry } from 'prom-client';

/** `GET /metrics` in Prometheus' text format. */
@Controller('metrics')
export class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}
