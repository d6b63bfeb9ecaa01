import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import request from 'supertest';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import {
  addPartner,
  aUser,
  DOMAIN,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ TRUSTED_PROXIES: 'loopback' });
  await addPartner(service, 'Arena');
});
afterAll(() => service.stop());

describe('every error', () => {
  it('names the body where its bytes are no text', async () => {
    const user = await aUser(service);
    const bytes = await fetch(`${service.url}/api/redemptions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.token}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      },
      body: Buffer.from('{"partner":"\xff","points":1}', 'latin1'),
    });
    expect([bytes.status, await bytes.json()]).toMatchObject([400, { field: 'body' }]);
  });

  it('that nobody foresaw is a bare 500, and the log has it', async () => {
    const user = await aUser(service);
    const database = await service.database.open();
    await database.query({ text: 'ALTER TABLE partners.callback RENAME TO gone' });
    service.clock.advance(5_000);
    try {
      const answer = await user.get('/api/partners').set('x-request-id', 'mine-1');
      expect([answer.status, answer.body]).toEqual([
        500,
        { success: false, code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' },
      ]);
      const failure = service.logs.find((line) => line.includes('A request failed')) ?? '{}';
      expect(JSON.parse(failure)).toMatchObject({ requestId: 'mine-1' });
    } finally {
      await database.query({ text: 'ALTER TABLE partners.gone RENAME TO callback' });
    }
  });

  it('of the database passes', async () => {
    const user = await aUser(service);
    const database = await service.database.open();
    const cancelled = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%session%' AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'`;
    const client = await database.pool.connect();
    await client.query('BEGIN; LOCK TABLE redemption.session');
    const asked = user.get('/api/partners').then((answer) => answer);
    // On another connection: within a transaction pg_stat_activity keeps its first contents.
    await eventually(async () => (await database.query({ text: cancelled })).length > 0);
    const answer = await asked;
    await client.query('ROLLBACK');
    client.release();
    expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(answer.headers['retry-after']).toBe('5');
  });
});

describe('every answer', () => {
  it('keeps the id of its request, or gives it one', async () => {
    const user = await aUser(service);
    for (const path of ['/api/partners', '/nowhere', '/%zz', '/health/live', '/metrics']) {
      const { headers } = await user.get(path).set('x-request-id', 'mine-2');
      expect([path, headers['x-request-id']]).toEqual([path, 'mine-2']);
    }
    const { headers } = await user.get('/api/partners').set('x-request-id', 'not mine');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const preflight = await request(service.url)
      .options('/api/redemptions')
      .set('origin', `https://${DOMAIN}`)
      .set('access-control-request-method', 'POST');
    expect(preflight.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is named in the log also after the body came, in many pieces', async () => {
    const user = await aUser(service);
    const database = await service.database.open();
    await database.query({ text: 'ALTER TABLE partners.callback RENAME TO gone' });
    service.clock.advance(5_000);
    try {
      const bytes = Buffer.from('{"partner":"Arena","points":1}');
      const pieces = new ReadableStream({
        async start(controller) {
          for (const byte of bytes) {
            controller.enqueue(Uint8Array.of(byte));
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          controller.close();
        },
      });
      const answer = await fetch(`${service.url}/api/redemptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${user.token}`,
          'content-type': 'application/json',
          'idempotency-key': 'pieces',
          'x-request-id': 'mine-3',
        },
        body: pieces,
        duplex: 'half',
      });
      expect(answer.status).toBe(500);
      const failure = service.logs.findLast((line) => line.includes('A request failed')) ?? '{}';
      expect(JSON.parse(failure)).toMatchObject({ requestId: 'mine-3' });
    } finally {
      await database.query({ text: 'ALTER TABLE partners.gone RENAME TO callback' });
    }
  });

  it('is counted by route, and made-up paths under one name', async () => {
    const user = await aUser(service);
    await user.get('/made/up').expect(404);
    await user.get('/api/redemptions/made-up').expect(404);
    const { text } = await request(service.url).get('/metrics').expect(200);
    expect(text).toMatch(
      /lowmark_redemption_request_seconds_count\{app="redemption",route="\/api\/redemptions\/:id",method="GET",status="404"\} 1/,
    );
    expect(text).not.toContain('made');
    expect(text).toMatch(/lowmark_database_connections\{state="waiting",app="redemption"\} 0/);
  });
});

describe('limits', () => {
  it('hold each wallet to its own pace', async () => {
    const [fast, other] = [await aUser(service), await aUser(service)];
    for (let count = 0; count < 20; count++) await fast.get('/api/partners').expect(200);
    const answer = await fast.get('/api/partners');
    expect(errorOf(answer)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(answer.headers['retry-after']).toBe('1');
    await other.get('/api/partners').expect(200);
    service.clock.advance(200);
    await fast.get('/api/partners').expect(200);
  });

  it('stop those who guess tokens, and nobody for having one', async () => {
    const guess = () =>
      request(service.url)
        .get('/api/partners')
        .set('authorization', `Bearer svct_${'g'.repeat(43)}`);
    const neighbour = await aUser(service, undefined, '127.0.0.1');
    for (let count = 0; count < 30; count++) await guess().expect(401);
    await guess().expect(429);
    await neighbour.get('/api/partners').expect(200);
    service.clock.advance(30_000);
    for (let count = 0; count < 40; count++) {
      const user = await aUser(service, undefined, '127.0.0.1');
      await user.get('/api/partners').expect(200);
    }
  });
});

describe('a browser', () => {
  const ask = (origin: string) =>
    request(service.url)
      .options('/api/redemptions')
      .set('origin', origin)
      .set('access-control-request-method', 'POST')
      .set('access-control-request-headers', 'authorization,content-type,idempotency-key');

  it('may call from the pages that users sign in on, and from no other', async () => {
    const answer = await ask(`https://${DOMAIN}`).expect(204);
    expect(answer.headers['access-control-allow-origin']).toBe(`https://${DOMAIN}`);
    expect(answer.headers['access-control-allow-headers']).toContain('idempotency-key');
    const other = await ask('https://evil.example');
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('keeps no answer', async () => {
    const { headers } = await (await aUser(service)).get('/api/partners').expect(200);
    expect(headers['cache-control']).toBe('no-store');
  });
});

describe('health', () => {
  it('says what the service needs, and its metrics are served', async () => {
    service.clock.advance(11_000);
    const { body } = await request(service.url).get('/health/ready').expect(200);
    expect(Object.keys(body.checks)).toEqual([
      'process',
      'database',
      'chain',
      'vault',
      'ledger',
      'engine',
    ]);
    const { text } = await request(service.url).get('/metrics').expect(200);
    expect(text).toContain('lowmark_redemptions{');
  });

  it('does what is to be done by the clock', () => {
    const { app } = service;
    const scheduler = app.get(SchedulerRegistry);
    expect([...scheduler.getCronJobs().keys()]).toContain('reconciliation');
    expect(scheduler.getIntervals().sort()).toEqual([
      ...['claim-watch', 'engine', 'expiry', 'ledger', 'vault-gauges'],
      ...['webhook-delivery', 'webhook-evaluation', 'webhook-sweep'],
    ]);
  });

  it('names what is not as it should be with the vault, and goes on serving', async () => {
    const { bench, clock } = service;
    await bench.mine(bench.call(VaultBench.PAUSER, 'pause'));
    clock.advance(11_000);
    const { body } = await request(service.url).get('/health/ready').expect(200);
    expect(body.checks.vault.details).toEqual({
      concerns: `VAULT_CONTRACT: ${bench.vault} is paused.`,
    });
    await bench.mine(bench.call(bench.admin, 'unpause'));
  });
});

describe('health and metrics at a port of their own', () => {
  it('are not for users', async () => {
    const port = await freePort();
    const other = await startService({
      MANAGEMENT_PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
    });
    try {
      for (const path of ['/health/live', '/health/ready', '/metrics']) {
        await request(`http://127.0.0.1:${port}`).get(path).expect(200);
        await request(other.url).get(path).expect(404);
      }
    } finally {
      await other.stop();
    }
  });
});

describe('stopping', () => {
  it('answers what is under way first, and takes nothing new', async () => {
    const other = await startService();
    await addPartner(other, 'Arena');
    const user = await aUser(other);
    const playing = other.game.behave;
    let asked: () => void = () => undefined;
    const underWay = new Promise<void>((resolve) => (asked = resolve));
    other.game.points.set(user.wallet, 7);
    other.game.delayMs = 300;
    other.game.behave = (call) => {
      asked();
      return playing(call);
    };
    const points = user.get('/api/partners/Arena/points').then((answer) => answer);
    await underWay;
    const stopped = other.stop();
    expect([(await points).status, (await points).body.points]).toEqual([200, 7]);
    await stopped;
    await expect(user.get('/api/partners')).rejects.toThrow('ECONNREFUSED');
  });
});
