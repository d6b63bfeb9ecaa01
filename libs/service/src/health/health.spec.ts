import { afterEach, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { version } from '#libs/platform';
import { HealthModule, HealthRegistry, MetricsModule, PROCESS_CHECK, Registry } from '../index.js';

let app: NestFastifyApplication | undefined;

async function start(): Promise<NestFastifyApplication> {
  const module = await Test.createTestingModule({
    imports: [HealthModule.register(), MetricsModule.register('sample')],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  await app.init();
  return app;
}

afterEach(async () => {
  await app?.close();
});

describe('health', () => {
  it('is live as soon as it answers, and ready while every check passes', async () => {
    const service = await start();
    service.get(HealthRegistry).register('index', () => ({ details: { lagSeconds: 2 } }));
    expect((await service.inject('/health/live')).json()).toEqual({ status: 'live' });
    const ready = await service.inject('/health/ready');
    expect(ready.statusCode).toBe(200);
    expect(ready.json()).toEqual({
      status: 'ready',
      reasons: [],
      checks: { index: { ready: true, details: { lagSeconds: 2 } } },
    });
  });

  it('answers 503 with the reasons, and does not show the message of an error', async () => {
    const service = await start();
    const registry = service.get(HealthRegistry);
    registry.register('index', () => ({ reason: 'not caught up' }));
    registry.register('database', () =>
      Promise.reject(Object.assign(new Error('host db.internal'), { code: 'ECONNREFUSED' })),
    );
    registry.register('price', () => {
      throw new Error('broken');
    });
    const response = await service.inject('/health/ready');
    expect(response.statusCode).toBe(503);
    expect(response.json<{ reasons: string[] }>().reasons).toEqual([
      'index: not caught up',
      'database: failed (ECONNREFUSED)',
      'price: failed',
    ]);
  });

  it('accepts requests until it is told to end, whatever else is wrong', async () => {
    const service = await start();
    const registry = service.get(HealthRegistry);
    registry.register('index', () => ({ reason: 'not caught up' }));
    let stopped = false;
    registry.register(PROCESS_CHECK, () => (stopped ? { reason: 'is shutting down' } : {}));
    expect(registry.hasLoadBalancer).toBe(false);
    expect((await service.inject('/health/accepting')).statusCode).toBe(200);
    expect(registry.hasLoadBalancer).toBe(true);
    stopped = true;
    const response = await service.inject('/health/accepting');
    expect(response.statusCode).toBe(503);
    expect(response.json<{ reasons: string[] }>().reasons).toEqual(['process: is shutting down']);
  });

  it('does not wait for a check that hangs', async () => {
    const service = await start();
    service.get(HealthRegistry).register('chain', () => new Promise(() => undefined));
    const response = await service.inject('/health/ready');
    expect(response.json<{ reasons: string[] }>().reasons).toEqual([
      'chain: no answer within 2000 ms',
    ]);
  });
});

describe('metrics', () => {
  it('serves the registry of the service', async () => {
    const service = await start();
    expect(service.get(Registry).getSingleMetric('lowmark_build_info')).toBeDefined();
    const response = await service.inject('/metrics');
    expect(response.headers['content-type']).toContain('text/plain');
    expect(response.body).toContain(`lowmark_build_info{version="${version()}",app="sample"} 1`);
  });
});
