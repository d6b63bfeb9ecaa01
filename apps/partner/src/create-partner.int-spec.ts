import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings, SettingsError } from '#libs/config';
import { compileCache } from '#libs/testing/programs';
import { PartnerSettings } from './partner.env.js';
import { migrateGame } from './store/migrations.js';
import { seedPlayers } from './store/players.js';
import {
  aDeduction,
  API_KEY,
  aPlayer,
  aRedemptionId,
  call,
  confirm,
  deduct,
  expectRefused,
  type Partner,
  pointsOf,
  revert,
  SECRET,
  sendRaw,
  startPartner,
} from './testing/partner-harness.support.js';

let partner: Partner;
beforeAll(async () => {
  partner = await startPartner();
});
afterAll(() => partner.stop());

describe('settings', () => {
  const DATABASE_URL = 'postgresql://game:hunter2@127.0.0.1/game';
  const given = { DATABASE_URL, PARTNER_API_KEY: API_KEY, PARTNER_SHARED_SECRET: SECRET };

  it('have defaults for all but the database and the two secrets', () => {
    expect(readSettings(PartnerSettings, given)).toMatchObject({
      partnerPort: 4000,
      listenHost: '0.0.0.0',
      logLevel: 'info',
      partnerBasePath: undefined,
    });
    expect(() => readSettings(PartnerSettings, {})).toThrow(
      /DATABASE_URL must be set\n.*PARTNER_API_KEY must be set\n.*PARTNER_SHARED_SECRET must be set/s,
    );
  });

  it.each([
    ['PARTNER_BASE_PATH', 'game'],
    ['PARTNER_BASE_PATH', '/game/'],
    ['PARTNER_BASE_PATH', '/'],
    ['PARTNER_BASE_PATH', '/ga me'],
    ['PARTNER_BASE_PATH', '/:any'],
    ['PARTNER_API_KEY', 'short'],
    ['PARTNER_API_KEY', 'with a blank inside it'],
    ['PARTNER_SHARED_SECRET', 'short'],
    ['PARTNER_PLAYERS', '0x12=5'],
    ['PARTNER_PLAYERS', `0x${'1'.repeat(40)}=-5`],
    ['PARTNER_PORT', '70000'],
  ])('refuse %s=%j without showing it', (name, value) => {
    const read = (): PartnerSettings => readSettings(PartnerSettings, { ...given, [name]: value });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(new RegExp(`^The settings are not usable:\n {2}${name} must[^\n]*$`));
  });
});

describe('the schema', () => {
  it('is made once by replicas that start together', async () => {
    const { database } = partner;
    await database.query({ text: 'DROP SCHEMA game CASCADE' });
    const applied = await Promise.all([
      migrateGame(database),
      migrateGame(await partner.test.open()),
    ]);
    expect(applied.sort((a, b) => b.length - a.length)).toEqual([['0001-points'], []]);
  });
});

describe('players of a demonstration', () => {
  it('are made at the start, and keep their points at the next', async () => {
    const wallet = '0x00000000000000000000000000000000000000Aa';
    const settings = { PARTNER_PLAYERS: `${wallet}=5000,0x${'2'.repeat(40)}=0` };
    const shared = { test: partner.test, clock: partner.clock };
    const first = await startPartner(settings, shared);
    const address = wallet.toLowerCase() as `0x${string}` & Parameters<typeof deduct>[1]['address'];
    await deduct(first, { address, deductPoints: 4000, svcRedemptionId: aRedemptionId() });
    await first.stop();
    const second = await startPartner(settings, shared);
    expect(await pointsOf(second, wallet)).toBe(1000);
    await second.stop();
    await seedPlayers(partner.database, []);
  });
});

describe('health', () => {
  const get = (path: string): ReturnType<typeof sendRaw> =>
    sendRaw(partner.port, { method: 'GET', path, headers: {} });

  it('is live and, while its database answers, ready; without a key', async () => {
    expect((await get('/health/live')).body).toEqual({ status: 'live' });
    expect(await get('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  it('stays where it is under a base path', async () => {
    const game = await startPartner({ PARTNER_BASE_PATH: '/game' }, partner);
    const path = '/health/ready';
    expect((await sendRaw(game.port, { method: 'GET', path, headers: {} })).status).toBe(200);
    await game.stop();
  });
});

describe('the end', () => {
  it('answers the call that is under way, then closes everything', async () => {
    const closing = await startPartner({}, { test: partner.test, clock: partner.clock });
    const wallet = await aPlayer(partner, 10);
    const { pool } = partner.database;
    const blocker = await pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM game.player WHERE wallet = $1 FOR UPDATE', [wallet]);
    const booking = { address: wallet, deductPoints: 10, svcRedemptionId: aRedemptionId() };
    const answer = deduct(closing, booking);
    const waiting = {
      text: `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    };
    while ((await partner.database.query(waiting)).length === 0);
    const stopped = closing.stop();
    await blocker.query('COMMIT');
    blocker.release();
    expect((await answer).body['success']).toBe(true);
    expect((await answer).headers['connection']).toBe('close');
    await stopped;
    await expect(call(closing, '/x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('the program starts, serves and ends with 0 at SIGTERM', async () => {
    const child = execFile(process.execPath, ['dist/apps/partner/src/main.js'], {
      env: {
        ...compileCache(),
        DATABASE_URL: partner.test.url,
        PARTNER_API_KEY: API_KEY,
        PARTNER_SHARED_SECRET: SECRET,
        LISTEN_HOST: '127.0.0.1',
        PARTNER_PORT: '0',
      },
    });
    let output = '';
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', reject);
      child.stdout?.on('data', (text: string) => {
        output += text;
        const [, found] = /"url":"(http:[^"]+)"/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const ready = await new Promise((resolve) => {
      request(`${url}/health/ready`, (response) => {
        resolve(response.statusCode);
        response.resume();
      }).end();
    });
    expect(ready).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output).toContain('"msg":"Stopped"');
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain(API_KEY);
  });
});

describe('secrets and failures', () => {
  it('no key, secret, signature or password is ever logged, whatever goes wrong', async () => {
    const { booking } = await aDeduction(partner);
    await revert(partner, booking);
    await confirm(partner, booking);
    await call(partner, '/get-points-by-address', undefined, {
      requestId: API_KEY,
      headers: { 'x-api-key': SECRET },
    });
    await call(partner, `/${API_KEY}`, `{"${SECRET}":1,"${SECRET}":2}`);
    await call(partner, '/deduct-points-by-address', `{"${SECRET}":1,"${SECRET}":2}`);
    await call(partner, '/deduct-points-by-address', { address: SECRET, deductPoints: API_KEY });
    const logged = partner.logs.join('');
    expect(logged).toContain('A call was refused');
    const { password } = new URL(partner.test.url);
    for (const secret of [API_KEY, SECRET, ...(password === '' ? [] : [password])]) {
      expect(logged).not.toContain(secret);
    }
    expect(logged).not.toMatch(/[0-9a-f]{64}/);
  });

  it('a failure inside is a signed ERR-INTERNAL that tells nothing; the log has all of it', async () => {
    const wallet = await aPlayer(partner, 10);
    await partner.database.query({ text: 'ALTER TABLE game.player RENAME TO gone' });
    const booking = { address: wallet, deductPoints: 1, svcRedemptionId: aRedemptionId() };
    const answer = await deduct(partner, booking);
    await partner.database.query({ text: 'ALTER TABLE game.gone RENAME TO player' });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toBe('The call failed here.');
    expect(partner.logs.join('')).toMatch(/A call failed/);
    expect(partner.logs.join('')).toMatch(/DATABASE_REFUSED/);
    expect((await deduct(partner, booking)).body['success']).toBe(true);
  });
});
