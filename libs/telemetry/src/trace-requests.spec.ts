import { request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { installTracer, type RequestSpan, type Tracer } from '#libs/platform';
import { traceRequests } from './trace-requests.js';

interface Recorded {
  name: string;
  attributes: Record<string, unknown>;
  failed?: string;
}

/** Keeps the spans that have ended. */
class RecordingTracer implements Pick<Tracer, 'serve'> {
  readonly ended: Recorded[] = [];
  private told: () => void = () => undefined;

  serve(_: unknown, name: string, attributes: object): RequestSpan {
    const span: Recorded = { name, attributes: { ...attributes } };
    return {
      note: (more) => void Object.assign(span.attributes, more),
      fail: (code) => void (span.failed = code),
      rename: (newName) => void (span.name = newName),
      run: (work) => work(),
      end: () => {
        this.ended.push(span);
        this.told();
      },
    };
  }

  async next(): Promise<Recorded | undefined> {
    if (this.ended.length === 0) await new Promise<void>((resolve) => (this.told = resolve));
    return this.ended.shift();
  }
}

const servers: FastifyInstance[] = [];
afterEach(async () => {
  // Test files share the modules, so the tracer must be removed.
  installTracer(undefined);
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(): Promise<string> {
  const server = fastify({ genReqId: () => 'the-id' });
  servers.push(server);
  server.get('/fine/:what', () => 'fine');
  server.get('/broken', () => {
    throw new Error('the message');
  });
  server.get('/slow', () => new Promise(() => undefined));
  server.get('/health/ready', () => 'ready');
  server.get('/healthy', () => 'not a probe');
  traceRequests(server);
  await server.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

describe('traceRequests', () => {
  it('leaves the server as it is where traces are off', () => {
    const server = fastify();
    servers.push(server);
    const before = server.server.listeners('request');
    traceRequests(server);
    expect(server.server.listeners('request')).toEqual(before);
  });

  it('tells route, status and id, and never the query', async () => {
    const tracer = recording();
    const url = await serve();
    await fetch(`${url}/fine/thing?key=secret`);
    expect(await tracer.next()).toEqual({
      name: 'GET /fine/:what',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/fine/:what',
        'http.response.status_code': 200,
        'url.path': '/fine/thing',
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(url).port),
        'lowmark.request_id': 'the-id',
      },
    });
  });

  it('tells of a failure by its status only', async () => {
    const tracer = recording();
    await fetch(`${await serve()}/broken`);
    const span = await tracer.next();
    expect(span).toMatchObject({ name: 'GET /broken', failed: '500' });
    expect(JSON.stringify(span)).not.toContain('the message');
  });

  it('tells of a caller who went away', async () => {
    const tracer = recording();
    const asked = request(`${await serve()}/slow`).on('error', () => undefined);
    asked.end();
    const [server] = servers;
    await new Promise((resolve) => server?.server.once('request', resolve));
    asked.destroy();
    const span = await tracer.next();
    expect(span).toMatchObject({ failed: 'aborted' });
    expect(span?.attributes).not.toHaveProperty('http.response.status_code');
  });

  it('tells of no probe, and of a path no more than its beginning, without credentials', async () => {
    const tracer = recording();
    const url = await serve();
    await fetch(`${url}/health/ready`);
    await fetch(`${url}/healthy`);
    expect((await tracer.next())?.name).toBe('GET /healthy');
    await fetch(`${url}/svck_0123456789abcdef/${'x'.repeat(1000)}`);
    const { name, attributes } = (await tracer.next()) ?? { name: '', attributes: {} };
    expect(name).toBe('GET');
    expect(attributes['url.path']).toMatch(/^\/svck_\[redacted\]\/x{200,256}$/);
  });
});

function recording(): RecordingTracer {
  const tracer = new RecordingTracer();
  installTracer(tracer as unknown as Tracer);
  return tracer;
}
