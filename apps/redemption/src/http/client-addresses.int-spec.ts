/** Limits by client address: every notation of an address, and every way to pretend to have another one. */
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import {
  addPartner,
  aUser,
  DOMAIN,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

let service: Service;
afterEach(() => service.stop());

const nonce = (forwarded: string) =>
  request(service.url).post('/api/auth/nonce').set('x-forwarded-for', forwarded);

async function spend(forwarded: (index: number) => string, count = 10): Promise<void> {
  for (let index = 0; index < count; index++) await nonce(forwarded(index)).expect(200);
}

describe('one client', () => {
  it('has one limit, however its address is written', async () => {
    service = await startService();
    const forms = [
      '203.0.113.7',
      '::ffff:203.0.113.7',
      '::FFFF:CB00:7107',
      '0:0:0:0:0:ffff:203.0.113.7',
      '203.0.113.7:4711',
      '[::ffff:203.0.113.7]:4712',
    ];
    await spend((index) => forms[index % forms.length] ?? '');
    for (const form of forms) await nonce(form).expect(429);
    await nonce('203.0.113.8').expect(200);
    const zones = ['2001:db8:7:1::5%eth0', '2001:DB8:7:1::6%1', '2001:db8:7:1:ffff::'];
    await spend((index) => zones[index % zones.length] ?? '');
    await nonce('2001:db8:7:1::7').expect(429);
  });

  it('has one limit with a /64, and a wider one with a /48', async () => {
    service = await startService();
    for (let subnet = 1; subnet <= 4; subnet++) {
      await spend((index) => `2001:db8:8:${subnet}::${index}`);
      await nonce(`2001:db8:8:${subnet}::ffff`).expect(429);
    }
    // A fifth /64 that has sent no request yet.
    await nonce('2001:db8:8:5::1').expect(429);
    await nonce('2001:db8:9:5::1').expect(200);
  });

  it('gains nothing by texts that are no address, nor by what it writes before its proxy does', async () => {
    service = await startService();
    await spend((index) => `made-up-${index}`);
    await nonce('made-up-too').expect(429);
    await spend((index) => `192.0.2.${index}, 198.51.100.9`);
    await nonce('192.0.2.200, 198.51.100.9').expect(429);
    await nonce('198.51.100.10').expect(200);
  });

  it('is the sender itself where its proxy is not trusted', async () => {
    service = await startService({ TRUSTED_PROXIES: '192.0.2.1' });
    await spend((index) => `203.0.113.${index}`);
    await nonce('203.0.113.99').expect(429);
  });
});

describe('a body', () => {
  it('is paid for before it is read, with a session or without one', async () => {
    service = await startService();
    // 15 KB that are no JSON: 400 once they are read.
    const body = `["${'x'.repeat(15_000)}"`;
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < 1000; sent += 1) {
      const path = ['/api/redemptions', '/api/auth/verify', '/nowhere'][sent % 3] ?? '';
      const { status } = await request(service.url)
        .post(path)
        .set({ 'x-forwarded-for': '203.0.113.50', 'content-type': 'application/json' })
        .send(body);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 400: 100, 429: 900 });
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
});

describe('many wallets at one address', () => {
  it('have one limit together, which leaves others alone', async () => {
    service = await startService();
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
    service = await startService();
    await addPartner(service, 'Arena');
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
