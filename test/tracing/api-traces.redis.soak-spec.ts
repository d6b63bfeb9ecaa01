/**
 * Tests the spans that a collector receives for a request to the api, and that tracing has no effect on a service if it is
 * not configured, or if no collector answers.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { type MintedCredential } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { SECRETS_KEY, serveIndex, WALLET } from '../restarts/served-index.js';
import { OtlpCollector, type SeenSpan } from './otlp-collector.js';
import { TracedProgram } from './traced-program.js';

const PATH = '/api/staking/snapshots';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';
const COLLECTOR_KEY = 'collector-key-8d1f0a7c';

let database: TestDatabase;
let redis: TestRedis;
let collector: OtlpCollector;
let credential: MintedCredential;
/** The one that was started last. */
let program: TracedProgram;
let served: SeenSpan;

async function start(environment: Readonly<Record<string, string>>): Promise<TracedProgram> {
  const common = { DATABASE_URL: database.urlAs('api'), SECRETS_KEY };
  return (program = await TracedProgram.start('api', { ...common, ...environment }));
}

async function ask(query: string, headers: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(`${program.url}${PATH}?${query}`, {
    headers: { 'x-api-key': credential.apiKey, ...headers },
  });
  await answer.arrayBuffer();
  return answer.status;
}

beforeAll(async () => {
  database = await createTestDatabase();
  redis = await startRedis();
  collector = await OtlpCollector.start();
  credential = await serveIndex(database.url);
  await start({
    REDIS_URL: redis.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${COLLECTOR_KEY}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    // docker compose passes unset variables as empty strings.
    OTEL_SERVICE_NAME: '',
    OTEL_TRACES_SAMPLER: '',
  });
  const traceparent = `00-${TRACE_ID}-${CALLER_SPAN}-01`;
  const status = await ask(`walletAddress=${WALLET}&lastDays=1`, {
    traceparent,
    'x-request-id': 'the-request',
  });
  expect(status).toBe(200);
  served = await collector.seen(({ kind, traceId }) => kind === 2 && traceId === TRACE_ID);
});

afterAll(async () => {
  await program.kill();
  await collector.stop();
  await redis.stop();
  await database.drop();
});

describe('a request to the api', () => {
  it('is a span of the caller’s trace', () => {
    expect(served).toMatchObject({
      service: 'lowmark-api',
      parentSpanId: CALLER_SPAN,
      name: `GET ${PATH}`,
      failed: false,
    });
    expect(served.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': PATH,
      'http.response.status_code': 200,
      'url.path': PATH,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(program.url).port),
      'lowmark.request_id': 'the-request',
    });
  });

  it('has what was asked of the database and of Redis below it', async () => {
    const below = (system: string) => (span: SeenSpan) =>
      span.parentSpanId === served.spanId && span.attributes['db.system.name'] === system;
    await collector.seen(below('postgresql'));
    await collector.seen(below('redis'));
    const children = collector.childrenOf(served);
    expect(children.every(({ kind, failed }) => kind === 3 && !failed)).toBe(true);
    const operations = children.map(({ attributes }) => attributes['db.operation.name']).join();
    expect(operations).toContain('SELECT');
    expect(operations).toContain('EVAL');
  });

  it('that is refused is a span too, and one that is no request of a caller’s is not', async () => {
    expect(await ask('walletAddress=nobody', { 'x-request-id': 'refused' })).toBe(400);
    await fetch(`${program.url}/health/live`);
    const stranger = await fetch(`${program.url}/api/nothing?x=y`, {
      headers: { 'x-request-id': 'lost', traceparent: '00-ff-zz-01' },
    });
    expect(stranger.status).toBeGreaterThanOrEqual(400);
    const named = (id: string) => (span: SeenSpan) => span.attributes['lowmark.request_id'] === id;
    const refused = await collector.seen(named('refused'));
    expect(refused.attributes).toMatchObject({
      'http.response.status_code': 400,
      'http.route': PATH,
    });
    expect(refused.failed).toBe(false);
    const lost = await collector.seen(named('lost'));
    expect(lost).toMatchObject({ name: 'GET', parentSpanId: '' });
    expect(lost.attributes['url.path']).toBe('/api/nothing');
    expect(collector.spans.filter(({ name }) => name.includes('health'))).toEqual([]);
  });

  it('tells nothing secret, and nothing of what was asked', async () => {
    await ask(`walletAddress=${WALLET}&secret=query-secret`);
    await program.terminate();
    const sent = collector.bodies.join('\n');
    expect(sent).toContain('deployment.environment.name');
    const kept = [credential.apiKey, credential.sharedSecret, SECRETS_KEY, WALLET, WALLET.slice(2)];
    kept.push('query-secret', 'walletAddress', COLLECTOR_KEY, redis.url);
    kept.push(database.urlAs('api'));
    for (const secret of kept) {
      expect({ secret, sent: sent.includes(secret) }).toEqual({ secret, sent: false });
    }
    expect(program.printed).not.toContain(COLLECTOR_KEY);
    expect([...collector.authorizations]).toEqual([`Bearer ${COLLECTOR_KEY}`]);
  });

  it('is all that is sent: neither metrics nor logs', () => {
    expect([...collector.paths]).toEqual(['/v1/traces']);
  });
});

// Each starts a program of its own: the one before has ended.
describe('traces', () => {
  const QUERY = `walletAddress=${WALLET}`;
  const warningsOf = ({ log }: TracedProgram) => log.filter(({ level }) => level === 'warn');

  it('without the variables load nothing of OpenTelemetry', async () => {
    const off = await start({});
    expect(await ask(QUERY)).toBe(200);
    expect(await off.terminate()).toBe(0);
    expect(off.hasLoadedOpenTelemetry).toBe(false);
  });

  it('for an unknown exporter are none, with a warning that says which there are', async () => {
    const off = await start({ OTEL_TRACES_EXPORTER: 'otlp,zipkin' });
    expect(await ask(QUERY)).toBe(200);
    expect(await off.terminate()).toBe(0);
    expect(off.hasLoadedOpenTelemetry).toBe(false);
    expect(warningsOf(off)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('may be otlp, console') }),
    ]);
    expect(off.printed).not.toContain('Traces are sent');
  });

  it('that no collector takes are one warning, and nothing else', async () => {
    const port = await freePort();
    const dead = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:collector-secret@127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    expect(dead.hasLoadedOpenTelemetry).toBe(true);
    for (let asked = 0; asked < 40 && warningsOf(dead).length === 0; asked++) {
      expect(await ask(QUERY)).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (let asked = 0; asked < 20; asked++) expect(await ask(QUERY)).toBe(200);
    expect(await dead.terminate()).toBe(0);
    expect(warningsOf(dead)).toEqual([
      expect.objectContaining({
        app: 'api',
        reason: expect.stringContaining('ECONNREFUSED'),
        msg: 'OpenTelemetry has trouble; the service goes on, traces may be missing',
      }),
    ]);
    expect(dead.printed).not.toContain('collector-secret');
  });

  it('that are taken and never answered do not keep the service from ending', async () => {
    const silent = await OtlpCollector.start({ silent: true });
    try {
      const held = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      });
      expect(await ask(QUERY)).toBe(200);
      expect(await held.terminate()).toBe(0);
      expect(silent.spans.map(({ name }) => name)).toContain('GET /api/staking/snapshots');
    } finally {
      await silent.stop();
    }
  });
});
