/** Whatever a partner answers, no key, secret or signature of ours is in a result, a record, a log line or an error. */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/service';
import { type PartnerCall, type PartnerEndpoint } from './partner-endpoint.js';
import {
  aClient,
  anEndpoint,
  BALANCE,
  CONFIRM,
  DEDUCT,
  endpointOf,
  REVERT,
} from './testing/partner-bench.support.js';
import {
  answer,
  API_KEY,
  type Behaviour,
  headersOf,
  replies,
  RoguePartner,
  SHARED_SECRET,
  UNSIGNED,
} from './testing/rogue-partner.support.js';

/** The secrets as they are, and as they appear in JSON, in JSON within JSON, and in a URL. */
const SECRETS = [API_KEY, SHARED_SECRET].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
]);
const ECHO = JSON.stringify({
  key: API_KEY,
  secret: SHARED_SECRET,
  url: encodeURIComponent(SHARED_SECRET),
});

function logged(value: unknown): string {
  const lines: string[] = [];
  const logger = createLogger({
    app: 'test',
    destination: { write: (line) => void lines.push(line) },
  });
  logger.info({ result: value, err: value }, inspect(value, { depth: 9, showHidden: true }));
  return lines.join('');
}

function expectNoSecrets(value: unknown, more: readonly string[] = []): void {
  const shown = [JSON.stringify(value), inspect(value, { depth: 9 }), logged(value)].join('\n');
  for (const secret of [...SECRETS, ...more]) {
    expect(shown.includes(secret) || shown.includes(JSON.stringify(secret).slice(1, -1))).toBe(
      false,
    );
  }
}

describe('secrets', () => {
  let partner: RoguePartner;

  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  afterEach(async () => {
    await partner.close();
  });

  it.each<[string, Behaviour]>([
    ['an unsigned echo', replies({ body: ECHO, headers: UNSIGNED })],
    [
      'headers',
      (socket, request) => {
        const echo = {
          server: API_KEY,
          location: `/?${SHARED_SECRET}`,
          'retry-after': SHARED_SECRET,
        };
        const body = `${'x'.repeat(2040)}${SHARED_SECRET}`;
        const headers = headersOf(request, body, { ...echo, 'content-type': 'text/html' });
        socket.end(answer(request, { status: 302, body, headers }));
      },
    ],
    [
      'all the headers that we sent',
      (socket, request) => {
        const body = request.headers.map(([name, value]) => `${name}: ${value}`).join('\n');
        const headers = headersOf(request, body, { 'content-type': 'text/plain' });
        socket.end(answer(request, { body: body.replace(/X-API-SIGNATURE: .*/, ''), headers }));
      },
    ],
    [
      'an echo that breaks off within the secret',
      (socket) => {
        const half = `{"secret":"${SHARED_SECRET.slice(0, 20)}`;
        socket.end(`HTTP/1.1 500 ${API_KEY}\r\nContent-Length: 900\r\n\r\n${half}`);
      },
    ],
    ['something else than HTTP', (socket) => socket.end(`${SHARED_SECRET}\r\n${API_KEY}`)],
    ['a reset', (socket) => socket.resetAndDestroy()],
  ])('are not shown by %s', async (_case, behave) => {
    partner.behave = behave;
    const endpoint = endpointOf(partner);
    for (const call of [BALANCE, DEDUCT, REVERT, CONFIRM]) {
      const result = await aClient().call(endpoint, call);
      const sent = partner.requests.map((request) => request.header('x-api-signature') ?? '');
      // What the partner sent is passed on unchanged, apart from the record, for a person's decision.
      const shown = { ...result, reply: null };
      expectNoSecrets(shown, [...sent, SHARED_SECRET.slice(0, 20)]);
      expectNoSecrets(result.record, sent);
    }
    expect(partner.requests).toHaveLength(4);
  });

  it('are not shown by an endpoint, nor by its errors, nor by a URL that holds some', async () => {
    expectNoSecrets(anEndpoint());
    for (const apiKey of [
      '',
      `${API_KEY}\r\nX-Evil: 1`,
      `${API_KEY} x`,
      'schlüssel',
      'k'.repeat(513),
    ]) {
      const made = (): unknown => anEndpoint({ apiKey });
      expect(made).toThrow(expect.objectContaining({ code: 'PARTNER_CREDENTIAL_INVALID' }));
      expect(made).toThrow(expect.not.stringContaining(API_KEY));
    }
    expect(() => anEndpoint({ sharedSecret: '' })).toThrow(/PARTNER|callback/);
    const baseUrl = `https://user:${API_KEY}@partner.example/v1`;
    const result = await aClient().call(anEndpoint({ baseUrl }), DEDUCT);
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'invalid-url' });
    expectNoSecrets(result);
  });

  it('are taken out of a text and nothing else is', () => {
    const endpoint: PartnerEndpoint = anEndpoint();
    expect(endpoint.redact(ECHO)).toBe(
      '{"key":"[redacted]","secret":"[redacted]","url":"[redacted]"}',
    );
    expect(endpoint.redact(`x ${SHARED_SECRET.slice(0, 9)}`)).toBe('x [redacted]');
    const harmless = '{"success":true,"partnerTransactionId":"ptx-1"}';
    expect(endpoint.redact(harmless)).toBe(harmless);
  });

  it('leave a record that is bounded, flat text, whatever came', async () => {
    partner.behave = (socket, request) => {
      const body = Buffer.concat([
        Buffer.from('\u0000\r\n\u202e\ud83d\ude00'.repeat(3000)),
        Buffer.from([0xff, 0xfe]),
      ]);
      const headers = [
        ...headersOf(request, body, { server: 's'.repeat(5000), 'set-cookie': 'session=theirs' }),
        ...Array.from({ length: 50 }, (_, index) => [`x-own-${index}`, 'v'] as const),
      ];
      socket.end(answer(request, { status: 418, body, headers }));
    };
    const { record } = await aClient().call(endpointOf(partner), DEDUCT);
    const text = JSON.stringify(record);
    expect(text.length).toBeLessThan(6000);
    expect(text).not.toMatch(/\\u0000|\\u202e|\\r|\\n|\\ud[89a-f]|theirs|x-own/i);
    expect(record.answerHeaders['server']).toHaveLength(200);
    expect(record).toMatchObject({ status: 418, outcome: 'answer', verdict: 'not-json' });
    expect(JSON.parse(text)).toEqual(record);
  });

  it('leave no secret that the partner gave us for its transaction id', async () => {
    const recordOf = async (partnerTransactionId: string) => {
      if (REVERT.step !== 'revert') throw new TypeError('A revert was expected.');
      const call: PartnerCall = { ...REVERT, body: { ...REVERT.body, partnerTransactionId } };
      return (await aClient().call(endpointOf(partner), call)).record;
    };
    const { requestBody } = await recordOf(SHARED_SECRET);
    expect(requestBody).toContain('"partnerTransactionId":"[redacted]"');
    expect(await recordOf('x'.repeat(5000))).not.toHaveProperty('requestBody');
  });

  it('leave a record that tells what happened', async () => {
    const body = '{"errorCode":"ERR-AUTH-FAILED","errorMessage":"clock","success":false}';
    const date = new Date(Date.now() - 400_000).toUTCString();
    partner.behave = replies({ status: 401, body, headers: { date, ...UNSIGNED } });
    const { record } = await aClient().call(endpointOf(partner), DEDUCT);
    expect(record).toEqual({
      partnerId: expect.any(String),
      step: 'deduct',
      requestId: partner.requests[0]?.header('x-api-request'),
      method: 'POST',
      origin: `http://127.0.0.1:${partner.port}`,
      path: '/game/v1/deduct-points-by-address',
      startedAtMs: expect.any(Number),
      phase: 'done',
      outcome: 'answer',
      verdict: 'unsigned',
      finding: {
        code: 'refusal-unsigned',
        isUsable: false,
        status: 401,
        tookMs: expect.any(Number),
      },
      alert: false,
      status: 401,
      timings: {
        queued: expect.any(Number),
        connect: expect.any(Number),
        head: expect.any(Number),
        total: expect.any(Number),
      },
      requestBytes: partner.requests[0]?.body.length,
      answerBytes: 70,
      remoteAddress: '127.0.0.1',
      clockDifferenceSeconds: expect.any(Number),
      answerHeaders: expect.objectContaining({ 'content-type': 'application/json' }),
      excerpt: body,
      target: '/game/v1/deduct-points-by-address',
      requestBody: partner.requests[0]?.body.toString(),
      answerSha256: '8b589166d24b078794def9c2ee22bcca71e68904b1551166ba9c2145dad5f824',
    });
    expect(Math.abs((record.clockDifferenceSeconds ?? 0) + 400)).toBeLessThanOrEqual(2);
  });
});
