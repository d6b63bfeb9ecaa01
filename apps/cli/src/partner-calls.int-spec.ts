import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex, verifySignature, KeyRing, webhookSealContext } from '#libs/signing';
import { FakePartner, type PartnerBehaviour, type PartnerCall } from '#libs/testing/partner';
import { type PingReport } from '#libs/operations';
import { CALLBACK_KEY, CALLBACK_SECRET, CliBench } from './testing/cli-bench.support.js';

const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7';
const PATH = '/game/v1/get-points-by-address';
const BALANCE = JSON.stringify({
  success: true,
  partnerUserId: 'player-1',
  address: WALLET,
  points: 4200,
  chain: 'local',
});

function refusal(errorCode: string): string {
  return JSON.stringify({ success: false, errorCode, errorMessage: 'no' });
}

let bench: CliBench;
let partner: FakePartner;
let partnerId: string;
beforeAll(async () => {
  bench = await CliBench.start();
  partner = await FakePartner.start(CALLBACK_SECRET, '/game/v1');
  partnerId = await bench.partner('Acme', partner.url, '--allow-private');
});
afterAll(async () => {
  await partner.stop();
  await bench.drop();
});

async function ping(behave: PartnerBehaviour, ...more: string[]) {
  partner.behave = behave;
  const argv = ['partner', 'ping', 'Acme', '--address', WALLET.toUpperCase().replace('X', 'x')];
  const ran = await bench.run(...argv, '--allow-private', '--timeout', '1', ...more);
  const { rows } = await bench.database.pool.query<{ outcome: string; record: object }>(
    'SELECT outcome, record, partner, step, redemption_id FROM redemption.partner_call ORDER BY begun_at DESC LIMIT 1',
  );
  return { ...ran, call: rows[0] };
}

function newest(): PartnerCall {
  return partner.calls.at(-1) as PartnerCall;
}

function requestId(): string {
  return String(newest().headers['x-api-request']);
}

async function report(behave: PartnerBehaviour) {
  const { out, code, call, err } = await ping(behave, '--json');
  expect(err).toBe('');
  return { report: JSON.parse(out) as PingReport, code, call };
}

describe('partner ping', () => {
  it('shows what both sides signed, and leaves a call and an audit row', async () => {
    const { report: shown, code, call } = await report(() => ({ body: BALANCE }));
    expect(code).toBe(0);
    const { headers } = newest();
    const head = `GET${PATH}${requestId()}`;
    expect(verifySignature(CALLBACK_SECRET, head, String(headers['x-api-signature']))).toBe(true);
    const signature = hmacSha256Hex(CALLBACK_SECRET, head + BALANCE);
    expect(shown).toMatchObject({
      partner: { partnerId, partnerName: 'Acme' },
      url: partner.url,
      good: true,
      requestId: requestId(),
      request: { content: head, signature: hmacSha256Hex(CALLBACK_SECRET, head) },
      answer: {
        status: 200,
        verdict: 'verified',
        signature,
        expected: { content: head + BALANCE, signature },
        body: BALANCE,
      },
      outcome: '4200 points, player player-1, chain local',
      phase: 'done',
      cause: null,
      remoteAddress: '127.0.0.1',
      timings: { total: expect.any(Number) },
      clockDifferenceSeconds: expect.any(Number),
    });
    expect(Object.keys(shown.partner)).toEqual(['partnerId', 'partnerName']);
    expect(call).toMatchObject({
      outcome: 'answer',
      partner: partnerId,
      step: 'balance',
      redemption_id: null,
    });
    expect((await bench.audit())[0]).toMatchObject({
      command: 'partner ping',
      partner: partnerId,
      arguments: { address: WALLET },
      outcome: 'succeeded',
    });
  });

  it('shows a wrong signature beside the one that was expected', async () => {
    const wrong = 'ab'.repeat(32);
    const answered = { body: BALANCE, signature: wrong };
    const { report: shown, code, call } = await report(() => answered);
    expect(code).toBe(1);
    const content = `GET${PATH}${requestId()}${BALANCE}`;
    expect(shown).toMatchObject({ good: false, outcome: 'unknown: signature-wrong' });
    expect(shown.mend).toMatch(/METHOD \+ PATH/);
    expect(shown.answer).toMatchObject({
      verdict: 'bad-signature',
      signature: wrong,
      expected: { content, signature: hmacSha256Hex(CALLBACK_SECRET, content) },
    });
    expect(JSON.stringify(call?.record)).not.toContain(shown.answer?.expected?.signature);
  });

  it('says so where the signature fits the canonical form only', async () => {
    const canonical = canonicalJson(JSON.parse(BALANCE));
    const { report: shown, code } = await report(({ signedHead }) => ({
      body: BALANCE,
      signature: hmacSha256Hex(CALLBACK_SECRET, signedHead + canonical),
    }));
    expect(code).toBe(0);
    const { answer } = shown;
    expect(answer).toMatchObject({ verdict: 'verified', signatureFits: 'canonical form' });
    expect(answer?.expected?.content).toContain(canonical);
    expect(answer?.expected?.signature).toBe(answer?.signature);
    expect(shown).toMatchObject({ finding: 'signature-canonical', rule: 'signature-over-bytes' });
    expect(shown.says).toMatch(/canonical form .* which we accept/);
  });

  it('shows what an unsigned answer lacks', async () => {
    const { report: shown, code } = await report(() => ({ body: BALANCE, signature: null }));
    expect(code).toBe(1);
    expect(shown.answer).toMatchObject({
      verdict: 'unsigned',
      signature: null,
      expected: { signature: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(shown).toMatchObject({ finding: 'signature-missing', rule: 'signature-present' });
    expect(shown.mend).toMatch(/^Sign every answer/);
  });

  it.each<[string, number, PartnerBehaviour, RegExp]>([
    [
      'silence',
      1,
      () => undefined,
      /came to +sending: timeout[\s\S]*X-API-REQUEST of the call in your logs/,
    ],
    [
      'a redirect',
      1,
      () => ({ status: 302, body: '', headers: { location: 'http://x' } }),
      /found +The answer is a redirect \(302\)[^\n]*\nto mend +Have the final URL set/,
    ],
    [
      'a refusal of our signature',
      1,
      () => ({ status: 401, body: refusal('ERR-AUTH-FAILED') }),
      /result +refused: ERR-AUTH-FAILED\nfound +Our key[^\n]* refused[^\n]*\nto mend +Compare/,
    ],
    [
      'a player that the partner does not know',
      0,
      () => ({ status: 404, body: refusal('ERR-USER-NOT-FOUND') }),
      /we signed +GET\/game\/v1\/get-points-by-address[0-9a-f-]{36}\n[\s\S]*our signature +[0-9a-f]{64}\n[\s\S]*result +refused: ERR-USER-NOT-FOUND[\s\S]*\nGOOD\n$/,
    ],
    [
      'a wrong clock',
      0,
      () => ({ body: BALANCE, headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' } }),
      /clocks +theirs is \d+ s behind ours: mend one/,
    ],
  ])('explains %s', async (_, code, behave, text) => {
    const ran = await ping(behave);
    expect(ran).toMatchObject({ code, err: '' });
    expect(ran.out).toMatch(text);
  });

  it('moves no cursor for the partner, and shows no secret that it repeats', async () => {
    const body = `\u001b[2J\u202e${CALLBACK_SECRET}\nGOOD ${CALLBACK_KEY}`;
    const { out } = await ping(() => ({ body }));
    expect(out).not.toMatch(/[\u001b\u202e]/);
    expect(out).not.toMatch(/^GOOD/m);
    expect(out).not.toContain(CALLBACK_SECRET);
    expect(out).not.toContain(CALLBACK_KEY);
  });

  it('calls a private address only when told so, and says why not', async () => {
    const { out, code } = await bench.run('partner', 'ping', 'Acme', '--address', WALLET);
    expect(code).toBe(1);
    expect(out).toMatch(/came to +address: invalid-url/);
    expect(out).toMatch(/we signed +nothing/);
    expect(out).toMatch(/to mend [^\n]*--allow-private on the command line/);
  });

  it.each([
    ['no address', ['Acme'], /--address/],
    ['half an address', ['Acme', '--address', '0x1234'], /Expected 0x and 40 hex digits/],
    ['nobody', ['Nobody', '--address', WALLET], /\[PARTNER_UNKNOWN\]/],
  ])('refuses %s', async (_, argv, message) => {
    const ran = await bench.run('partner', 'ping', ...argv);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(message);
  });
});

it('wrote and printed no secret', async () => {
  const everything = bench.printed + (await bench.written());
  expect(everything).not.toContain(CALLBACK_SECRET);
  expect(everything).not.toContain(JSON.stringify(CALLBACK_SECRET).slice(1, -1));
  expect(everything).not.toContain(CALLBACK_KEY);
});

describe('partner webhook', () => {
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
