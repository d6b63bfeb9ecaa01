import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { hmacSha256Hex, verifySignature } from '#libs/signing';
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
