/** Tests that tracing has no effect on a service if it is not configured, or if no collector answers. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { type MintedCredential } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { SECRETS_KEY, serveIndex, WALLET } from '../restarts/served-index.js';
import { OtlpCollector } from './otlp-collector.js';
import { TracedProgram } from './traced-program.js';

let database: TestDatabase;
let credential: MintedCredential;
let program: TracedProgram | undefined;

async function start(environment: Readonly<Record<string, string>>): Promise<TracedProgram> {
  const common = { DATABASE_URL: database.urlAs('api'), SECRETS_KEY };
  return (program = await TracedProgram.start('api', { ...common, ...environment }));
}

async function ask({ url }: TracedProgram): Promise<number> {
  const answer = await fetch(`${url}/api/staking/snapshots?walletAddress=${WALLET}`, {
    headers: { 'x-api-key': credential.apiKey },
  });
  await answer.arrayBuffer();
  return answer.status;
}

const warningsOf = ({ log }: TracedProgram) => log.filter(({ level }) => level === 'warn');

beforeAll(async () => {
  database = await createTestDatabase();
  credential = await serveIndex(database.url);
});
afterAll(async () => {
  await program?.kill();
  await database.drop();
});

describe('traces', () => {
  it('without the variables load nothing of OpenTelemetry', async () => {
    const off = await start({});
    expect(await ask(off)).toBe(200);
    expect(await off.terminate()).toBe(0);
    expect(off.hasLoadedOpenTelemetry).toBe(false);
  });

  it('for an unknown exporter are none, with a warning that says which there are', async () => {
    const off = await start({ OTEL_TRACES_EXPORTER: 'otlp,zipkin' });
    expect(await ask(off)).toBe(200);
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
      expect(await ask(dead)).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (let asked = 0; asked < 20; asked++) expect(await ask(dead)).toBe(200);
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
      expect(await ask(held)).toBe(200);
      expect(await held.terminate()).toBe(0);
      expect(silent.spans.map(({ name }) => name)).toContain('GET /api/staking/snapshots');
    } finally {
      await silent.stop();
    }
  });
});
