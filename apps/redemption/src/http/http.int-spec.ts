/**
 * The service over HTTP: its errors and answers, its limits by wallet and client address, browsers, health, its end, and
 * settings with which it does not start.
 */
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
  serveOn,
  type Service,
  startService,
  SECRETS_KEY,
} from '../testing/redemption-harness.support.js';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { type Stage, startStage, stopStage } from '../testing/stage.support.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await addPartner(service, 'Arena');
});
afterAll(() => service.stop());

/** Lets each request for partners fail in a way that nothing in the service foresees. */
async function withoutCallbacks(what: () => Promise<void>): Promise<void> {
  const database = await service.database.open();
  await database.query({ text: 'ALTER TABLE partners.callback RENAME TO gone' });
  service.clock.advance(5_000);
  try {
    await what();
  } finally {
    await database.query({ text: 'ALTER TABLE partners.gone RENAME TO callback' });
  }
}

function lastFailure(): unknown {
  return JSON.parse(service.logs.findLast((line) => line.includes('A request failed')) ?? '{}');
}

describe('every error', () => {
  it('that is not foreseen is a bare 500, and the log has it', async () => {
    const user = await aUser(service);
    await withoutCallbacks(async () => {
      const answer = await user.get('/api/partners').set('x-request-id', 'mine-1');
      expect([answer.status, answer.body]).toEqual([
        500,
        { success: false, code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' },
      ]);
      expect(lastFailure()).toMatchObject({ requestId: 'mine-1' });
    });
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
    await withoutCallbacks(async () => {
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
    });
    expect(lastFailure()).toMatchObject({ requestId: 'mine-3' });
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

const nonce = (forwarded: string, { url } = service) =>
  request(url).post('/api/auth/nonce').set('x-forwarded-for', forwarded);

/** Asks for as many nonces as one address may at once. */
async function spend(forwarded: (index: number) => string, at = service): Promise<void> {
  for (let index = 0; index < 10; index++) await nonce(forwarded(index), at).expect(200);
}

describe('one client', () => {
  it('has one limit with a /64, and a wider one with a /48', async () => {
    for (let subnet = 1; subnet <= 4; subnet++) {
      await spend((index) => `2001:db8:8:${subnet}::${index}`);
      await nonce(`2001:db8:8:${subnet}::ffff`).expect(429);
    }
    // A fifth /64 that has sent no request yet.
    await nonce('2001:db8:8:5::1').expect(429);
    await nonce('2001:db8:9:5::1').expect(200);
  });

  it('gains nothing by texts that are no address, nor by what it writes before its proxy does', async () => {
    await spend((index) => `made-up-${index}`);
    await nonce('made-up-too').expect(429);
    await spend((index) => `192.0.2.${index}, 198.51.100.9`);
    await nonce('192.0.2.200, 198.51.100.9').expect(429);
    await nonce('198.51.100.10').expect(200);
  });

  it('is the sender itself where its proxy is not trusted', async () => {
    const other = await serveOn(service, { TRUSTED_PROXIES: '192.0.2.1' });
    try {
      await spend((index) => `203.0.113.${index}`, other);
      await nonce('203.0.113.99', other).expect(429);
    } finally {
      await other.stop();
    }
  });
});

it('a body is paid for before it is read, with a session or without one', async () => {
  // 15 KB that are no JSON: 400 once they are read.
  const body = `["${'x'.repeat(15_000)}"`;
  const statuses: number[] = [];
  for (let sent = 0; sent < 130; sent += 1) {
    const path = ['/api/redemptions', '/api/auth/verify', '/nowhere'][sent % 3] ?? '';
    const { status } = await request(service.url)
      .post(path)
      .set({ 'x-forwarded-for': '203.0.113.50', 'content-type': 'application/json' })
      .send(body);
    statuses.push(status);
  }
  expect(statuses).toEqual([...Array<number>(100).fill(400), ...Array<number>(30).fill(429)]);
  const refused = await request(service.url)
    .post('/nowhere')
    .set({ 'x-forwarded-for': '203.0.113.50', 'content-type': 'application/json' })
    .set('origin', `https://${DOMAIN}`)
    .send(body);
  expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  expect(refused.headers['retry-after']).toBe('1');
  // A page reads the refusal.
  expect(refused.headers['access-control-allow-origin']).toBe(`https://${DOMAIN}`);
  await (await aUser(service)).get('/api/partners').expect(200);
});

describe('many wallets at one address', () => {
  it('have one limit together, which leaves others alone', async () => {
    const crowd = await Promise.all(
      Array.from({ length: 10 }, () => aUser(service, undefined, '198.51.100.1')),
    );
    for (const user of crowd) {
      for (let count = 0; count < 10; count++) await user.get('/api/partners').expect(200);
    }
    const late = await aUser(service, undefined, '198.51.100.1');
    const refused = await late.get('/api/partners');
    expect(errorOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(refused.headers['retry-after']).toBe('1');
    await (await aUser(service)).get('/api/partners').expect(200);
  });

  it('call partners no more than thirty times at once', async () => {
    const crowd = await Promise.all(
      Array.from({ length: 30 }, () => aUser(service, undefined, '198.51.100.2')),
    );
    for (const [index, user] of crowd.entries()) {
      const asking =
        index % 2 === 0 ? user.get('/api/partners/Arena/points') : user.redeem('Arena', 1);
      expect([404, 409]).toContain((await asking).status);
    }
    const calls = service.game.calls.length;
    const late = await aUser(service, undefined, '198.51.100.2');
    await late.get('/api/partners/Arena/points').expect(429);
    await late.redeem('Arena', 1).expect(429);
    expect(service.game.calls).toHaveLength(calls);
    expect((await request(service.url).get('/metrics')).text).toMatch(
      /^lowmark_rate_limited_total\{limit="calls",app="redemption"\} 2$/m,
    );
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
});

describe('health', () => {
  it('says what the service needs, and its metrics are served', async () => {
    expect(service.logs.join('')).toContain(
      'The key that cancels vouchers is the key that signs them',
    );
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

it('health and metrics at a port of their own are not for users', async () => {
  const port = await freePort();
  const other = await serveOn(service, {
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

it('a service that stops answers what is under way first, and takes nothing new', async () => {
  const other = await serveOn(service, {});
  const user = await aUser(other);
  const { game } = other;
  const playing = game.behave;
  let asked: () => void = () => undefined;
  const underWay = new Promise<void>((resolve) => (asked = resolve));
  game.points.set(user.wallet, 7);
  game.delayMs = 300;
  game.behave = (call) => {
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

const REGISTRY = {
  REGISTRY_ADDRESS: `0x${'1'.repeat(40)}`,
  REGISTRY_FIRST_DAY: '2026-01-01',
};

const { SIGNER_KEY } = VaultBench;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ maxTtlSeconds: 3600n });
});
afterAll(() => stopStage(stage));

describe('starting', () => {
  it.each<[string, Record<string, string>, string, RegExp?]>([
    ['another chain', { CHAIN_ID: '1' }, 'RPC_CHAIN_MISMATCH'],
    [
      'an EVIDENCE_KEY that the api has as well',
      { EVIDENCE_KEY: `${EVIDENCE_KEY},${SECRETS_KEY}` },
      'EVIDENCE_KEY_SHARED',
    ],
    [
      'a registry without its key and first day',
      { REGISTRY_ADDRESS: `0x${'1'.repeat(40)}` },
      'REGISTRY_SETTINGS_INCOMPLETE',
    ],
    [
      'a publisher whose key signs vouchers',
      { ...REGISTRY, REGISTRY_PRIVATE_KEY: SIGNER_KEY },
      'REGISTRY_KEY_SHARED',
    ],
    [
      'a publisher whose key pauses the vault',
      { ...REGISTRY, VAULT_PAUSER_KEY: '66'.repeat(32), REGISTRY_PRIVATE_KEY: '66'.repeat(32) },
      'REGISTRY_KEY_SHARED',
    ],
    [
      'the signer’s key as the pauser’s, in whatever spelling',
      { VAULT_PAUSER_KEY: `0x${SIGNER_KEY.toUpperCase()}` },
      'PAUSER_IS_SIGNER',
    ],
    [
      'vouchers that live longer than the vault pays them',
      { VOUCHER_TTL_SECONDS: '3601' },
      'VOUCHER_TTL_TOO_LONG',
      /^VOUCHER_TTL_SECONDS: 3601 is longer than 3600, the maxTtlSeconds of 0x[0-9a-f]{40}\. Lower it\.$/,
    ],
  ])('is refused with %s', async (_, overrides, code, message = /./) => {
    const refusal = serveOn(stage, overrides);
    await expect(refusal).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await expect(refusal).rejects.not.toThrow(SIGNER_KEY);
  });

  it('is fine with vouchers that live as long as the vault pays them', async () => {
    const { stop } = await serveOn(stage, { VOUCHER_TTL_SECONDS: '3600' });
    await stop();
  });

  it('names all that production refuses at once', async () => {
    const key = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    const development = {
      NODE_ENV: 'production',
      CHAIN_ID: '31337',
      REDIS_URL: 'redis://127.0.0.1:1',
      SIWE_DOMAINS: 'localhost:3002',
      ALLOW_PRIVATE_PARTNERS: 'true',
      VOUCHER_SIGNER_KEY: key,
      VAULT_CANCELLER_KEY: key,
      VAULT_PAUSER_KEY: key,
      REGISTRY_PRIVATE_KEY: key,
    };
    const message = await serveOn(stage, development).then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    const { NODE_ENV, ...named } = development;
    expect(NODE_ENV).toBe('production');
    for (const variable of Object.keys(named)) expect(message).toContain(`${variable}: `);
    expect(message).not.toContain(key);
  });
});
