import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeyRing, webhookSealContext } from '#libs/signing';
import { CliBench } from './testing/cli-bench.support.js';

interface Made {
  readonly id: string;
  readonly secret: string;
}

const URL = 'https://hooks.example/lowmark';
const PARTNER_LINE = /^Partner: Acme, [0-9a-f-]{36}\n$/;
let bench: CliBench;
let made: Made;
beforeAll(async () => {
  bench = await CliBench.start();
  await bench.run('partner', 'create', '--name', 'Acme', '--json');
  await bench.run('partner', 'create', '--name', 'Beta', '--json');
  const { code, out, err } = await webhook('add', 'Acme', ...TERMS, '--json');
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(PARTNER_LINE) });
  made = JSON.parse(out) as Made;
});
afterAll(() => bench.drop());

const TERMS = ['--url', URL, '--topics', 'redemption.*,day.sealed'];

const webhook = (...argv: string[]) => bench.run('partner', 'webhook', ...argv);

async function listed(): Promise<Record<string, unknown>> {
  const { out } = await webhook('list', 'acme', '--json');
  const [first] = JSON.parse(out) as [Record<string, unknown>];
  return first;
}

async function sealed(): Promise<string[]> {
  const ring = KeyRing.parse(bench.settings['SECRETS_KEY'] ?? '');
  const { rows } = await bench.database.pool.query<{ ciphertext: Buffer }>(
    'SELECT ciphertext FROM webhooks.secret ORDER BY created_at',
  );
  return rows.map(({ ciphertext }) => ring.open(ciphertext, webhookSealContext(made.id)));
}

describe('partner webhook', () => {
  it('adds one whose secret is shown once and stored sealed', async () => {
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await sealed()).toEqual([made.secret]);
    expect(await listed()).toMatchObject({ id: made.id, url: URL, pausedAt: null });
    const { rows } = await bench.database.pool.query<object>(
      `SELECT arguments FROM redemption.audit WHERE command = 'partner webhook add' AND outcome = 'done'`,
    );
    expect(JSON.stringify(rows)).toContain(made.id);
    expect(JSON.stringify(rows)).not.toContain(made.secret);
  });

  it.each([
    [['--url', 'http://hooks.example/', '--topics', 'day.sealed'], '--allow-private'],
    [['--url', 'https://10.0.0.1/', '--topics', 'day.sealed'], 'not public'],
    [['--url', 'https://hooks.example/?token=secret', '--topics', 'day.sealed'], 'a query'],
    [['--url', URL, '--topics', 'day.eaten'], 'Expected some of'],
  ])('refuses %j', async (argv, message) => {
    const ran = await webhook('add', 'Acme', ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toContain(message);
    expect(ran.err).not.toContain('token=secret');
  });

  it('sets, pauses and lets go on', async () => {
    await webhook('set', 'Acme', made.id, '--url', `${URL}/next/`);
    expect(await listed()).toMatchObject({
      url: `${URL}/next/`,
      topics: ['redemption.*', 'day.sealed'],
    });
    await webhook('pause', 'Acme', made.id);
    expect(await listed()).toMatchObject({ pausedBecause: 'operator', lastDeliveredAt: null });
    const text = 'UPDATE webhooks.subscription SET paused_because =';
    await bench.database.query({
      text: `${text} 'gone', last_delivered_at = '2026-02-03T04:05:06Z'`,
    });
    const { out } = await webhook('list', 'Acme');
    expect(out).toMatch(/paused +its address answered 410/);
    expect(out).toMatch(/last delivery +2026-02-03T04:05:06/);
    await webhook('resume', 'Acme', made.id);
    expect(await listed()).toMatchObject({ pausedBecause: null });
  });

  it('rotates the secret, and both sign for a while', async () => {
    const { out } = await webhook('rotate', 'Acme', made.id, '--json');
    const { secret } = JSON.parse(out) as Made;
    expect(await sealed()).toEqual([made.secret, secret]);
    const { rows } = await bench.database.pool.query(
      `SELECT round(extract(epoch FROM ends_at - now()) / 3600)::int AS hours FROM webhooks.secret ORDER BY created_at`,
    );
    expect(rows).toEqual([{ hours: 24 }, { hours: null }]);
  });

  it('sends a test, once until it is delivered, and shows it', async () => {
    const { out } = await webhook('test', 'Acme', made.id);
    const [id = ''] = /msg_[0-9a-f]{32}/.exec(out) ?? [];
    expect((await webhook('test', 'Acme', made.id)).out).toContain(id);
    expect((await webhook('log', 'Acme', made.id)).out).toMatch(
      new RegExp(`${id}  webhook\\.test .* waiting  0`),
    );
    const bare = id.slice('msg_'.length);
    for (const form of [id, id.toUpperCase(), bare]) {
      const shown = await webhook('log', 'Acme', made.id, '--event', form, '--json');
      const event = JSON.parse(shown.out) as { readonly id: string };
      expect(event).toMatchObject({ type: 'webhook.test', history: [] });
      expect(event.id.replaceAll('-', '')).toBe(bare);
    }
    for (const form of [`msg-${bare}`, bare.slice(1), `${bare}0`, `msg_msg_${bare}`, '']) {
      const { code, err } = await webhook('log', 'Acme', made.id, '--event', form);
      expect([form, code, err]).toEqual([form, 1, expect.stringContaining('no event')]);
    }
    const again = await webhook('replay', 'Acme', made.id, '--event', id);
    expect(again.out).toBe('Events that are sent again: 1. What waits is tried at once.\n');
    await bench.database.query({
      text: `UPDATE webhooks.event SET state = 'given-up', finished_at = now()`,
    });
    await bench.database.query({ text: 'UPDATE webhooks.lane SET waiting = 0' });
    expect((await webhook('replay', 'Acme', made.id, '--since', '2020-01-01')).out).toContain(
      ': 1.',
    );
  });

  it('is its partner’s own: by the name of another one there is none', async () => {
    for (const argv of [['pause'], ['rotate'], ['test'], ['log'], ['remove', '--yes']]) {
      const [name = '', ...more] = argv;
      const ran = await webhook(name, 'Beta', made.id, ...more);
      expect([name, ran.code, ran.err]).toEqual([name, 1, expect.stringContaining('no webhook')]);
    }
  });

  it.each([
    ['--event', 'x', '--since', '2020-01-01'],
    [],
    ['--since', 'yesterday'],
    ['--event', 'x'],
  ])('replays nothing by %s %s', async (...argv) => {
    expect(await webhook('replay', 'Acme', made.id, ...argv)).toMatchObject({ code: 1, out: '' });
  });

  it('removes one, asked for first', async () => {
    expect((await webhook('remove', 'Acme', made.id)).code).toBe(1);
    await webhook('remove', 'Acme', made.id, '--yes');
    expect(await listed()).toBeUndefined();
  });
});
