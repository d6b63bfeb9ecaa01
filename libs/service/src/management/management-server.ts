import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type HealthRegistry, type HealthReport } from '../health/health.registry.js';

export interface ManagementAddress {
  readonly port: number;
  readonly host: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `/health/…` and `/metrics` on a separate port that is not published: these facts are for the operator, and
 * callers of the service do not reach them. It serves from the start of the application until the last answer of the
 * service.
 */
export class ManagementServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server: Server;

  constructor(
    private readonly health: HealthRegistry,
    private readonly metrics: Registry,
    private readonly address: ManagementAddress,
  ) {
    this.server = createServer((request, response) => {
      void this.serve(request, response);
    });
    this.server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.server.headersTimeout = REQUEST_TIMEOUT_MS;
  }

  /** @throws Error where the port is taken */
  async onApplicationBootstrap(): Promise<void> {
    const { port, host } = this.address;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { status, type, body } = await this.answer(request).catch((): Answer => ({
      status: 500,
      type: JSON_TYPE,
      body: '{"status":"error"}',
    }));
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  private async answer({ method, url = '' }: IncomingMessage): Promise<Answer> {
    const [path = ''] = url.split('?', 1);
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, type: JSON_TYPE, body: '{"status":"method not allowed"}' };
    }
    switch (path) {
      case '/health/live':
        return { status: 200, type: JSON_TYPE, body: '{"status":"live"}' };
      case '/health/ready':
        return answerOf(await this.health.report());
      case '/health/accepting':
        return answerOf(await this.health.accepting());
      case '/metrics':
        return {
          status: 200,
          type: Registry.PROMETHEUS_CONTENT_TYPE,
          body: await this.metrics.metrics(),
        };
      default:
        return { status: 404, type: JSON_TYPE, body: '{"status":"not found"}' };
    }
  }
}

function answerOf(report: HealthReport): Answer {
  const status = report.status === 'ready' ? 200 : 503;
  return { status, type: JSON_TYPE, body: JSON.stringify(report) };
}
