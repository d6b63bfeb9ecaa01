/** What the client sends, when it stops calling a partner, and what it shows of a call; over real sockets. */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseUuidV7, type PartnerId, uuidV7Ms } from '#libs/domain';
import { createLogger } from '#libs/service';
import { hmacSha256Hex } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { aPartnerId } from '#libs/testing/partner';
import { type PartnerClient } from './partner-client.js';
import { type PartnerCall, type PartnerEndpoint } from './partner-endpoint.js';
import {
  aClient,
  anEndpoint,
  anId,
  BALANCE,
  CONFIRM,
  DEDUCT,
  endpointOf,
  REDEMPTION,
  REVERT,
  WALLET,
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

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

describe('a call', () => {
  const TERMS = `"address":"${WALLET}","deductPoints":1500`;
  const OF = `"svcRedemptionId":"${REDEMPTION}"`;
  it.each<[string, PartnerCall, string | undefined]>([
    [`GET /get-points-by-address?address=${WALLET}`, BALANCE, ''],
    ['POST /deduct-points-by-address', DEDUCT, `{${TERMS},${OF}}`],
    [
      'POST /revert-deduct-points',
      REVERT,
      `{${TERMS},"partnerTransactionId":"ptx-1","revertReason":"timeout",${OF}}`,
    ],
    ['POST /confirm-redemption', CONFIRM, undefined],
  ])('%s goes out signed, once, and comes back verified', async (line, call, body) => {
    const [method = '', target = ''] = line.replace(' /', ' /game/v1/').split(' ');
    const [path = ''] = target.split('?');
    const before = Date.now();
    const result = await aClient().call(endpointOf(partner), call);
    expect(result).toMatchObject({
      ...{ kind: 'answer', phase: 'done', status: 200, verdict: 'verified', alert: false },
      reply: { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } },
    });
    expect(partner.requests).toHaveLength(1);
    const [seen] = partner.requests;
    expect(seen).toMatchObject({ method, target });
    if (body !== undefined) expect(seen?.body).toBe(body);
    const id = seen?.header('x-api-request') ?? '';
    expect(uuidV7Ms(parseUuidV7(id) ?? anId(0))).toBeGreaterThanOrEqual(before);
    expect(seen?.header('x-api-key')).toBe(API_KEY);
    const content = method + path + id + (seen?.body ?? '');
    expect(seen?.header('x-api-signature')).toBe(hmacSha256Hex(SHARED_SECRET, content));
    expect(seen?.header('content-type')).toBe(method === 'POST' ? 'application/json' : undefined);
    expect(seen?.header('accept-encoding')).toBe('identity');
    expect(result.record).toMatchObject({ step: call.step, method, path, requestId: id, target });
    expect(result.record.requestBody).toBe(seen?.body === '' ? undefined : seen?.body);
  });

  it('carries the id that was committed for it, and none that is old', async () => {
    const client = aClient();
    const requestId = anId();
    const sent = await client.call(endpointOf(partner), DEDUCT, { requestId });
    expect(sent).toMatchObject({ verdict: 'verified', record: { requestId } });
    expect(partner.requests[0]?.header('x-api-request')).toBe(requestId);
    for (const skewMs of [-61_000, 61_000]) {
      const stale = anId(Date.now() + skewMs);
      const held = await client.call(endpointOf(partner), DEDUCT, { requestId: stale });
      expect(held).toMatchObject({ kind: 'nothing-sent', cause: 'stale-request-id' });
    }
    expect(partner.requests).toHaveLength(1);
  });

  it('takes the path of the base URL as it is', async () => {
    const client = aClient();
    for (const path of ['', '/', '/a%2Fb/', '/a//b']) {
      await client.call(endpointOf(partner, path), DEDUCT);
    }
    expect(partner.requests.map((seen) => seen.target)).toEqual(
      ['', '', '/a%2Fb', '/a//b'].map((base) => `${base}/deduct-points-by-address`),
    );
  });
});

describe('a client', () => {
  const [ONE, TWO] = [aPartnerId(), aPartnerId()];
  let client: PartnerClient;
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    const gate = { threshold: 3, firstOpenMs: 1500, maxAtOnce: 2, maxWaiting: 2 };
    client = aClient({ clock, gate });
  });

  const at = (partnerId: PartnerId): PartnerEndpoint =>
    anEndpoint({ partnerId, baseUrl: `http://127.0.0.1:${partner.port}` });

  it.each<[string, Behaviour]>([
    ['resets', (socket) => socket.resetAndDestroy()],
    ['answers 500', replies({ status: 500 })],
    ['answers 429', replies({ status: 429 })],
    ['redirects', replies({ status: 302 })],
    ['does not sign', replies({ headers: UNSIGNED })],
    ['answers in HTML', replies({ body: '<p>' })],
  ])(
    'stops calling a partner that %s, asks once in a while, and comes back',
    async (_case, behave) => {
      partner.behave = behave;
      for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
      expect(client.circuitOf(ONE)).toBe('open');
      expect(await client.call(at(ONE), DEDUCT)).toMatchObject({
        kind: 'nothing-sent',
        cause: 'circuit-open',
        phase: 'gate',
        retryAfterSeconds: 2,
        record: { outcome: 'nothing-sent', requestBytes: 0, answerBytes: 0 },
      });
      expect(partner.requests).toHaveLength(3);
      clock.advance(1500);
      const probes = [client.call(at(ONE), DEDUCT), client.call(at(ONE), DEDUCT)];
      const results = await Promise.all(probes);
      expect(results[1]).toMatchObject({ kind: 'nothing-sent', cause: 'circuit-open' });
      expect(partner.requests).toHaveLength(4);
      partner.behave = replies({});
      clock.advance(3000);
      expect(await client.call(at(ONE), DEDUCT)).toMatchObject({ verdict: 'verified' });
      expect(client.circuitOf(ONE)).toBe('closed');
    },
  );

  it('goes on calling one that refuses in the interface’s words', async () => {
    const body = '{"errorCode":"ERR-INSUFFICIENT-POINTS","errorMessage":"","success":false}';
    partner.behave = replies({ status: 422, body });
    for (let call = 0; call < 5; call++) await client.call(at(ONE), DEDUCT);
    expect(partner.requests).toHaveLength(5);
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('goes on calling one that is too slow for calls with less time than usual', async () => {
    partner.behave = () => undefined;
    for (let call = 0; call < 5; call++) {
      const result = await client.call(at(ONE), BALANCE, { withinMs: 20 });
      expect(result).toMatchObject({ kind: 'no-answer' });
    }
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('stops calling one whose refusals of deductions are unsigned, and not for a balance', async () => {
    const body = '{"errorCode":"ERR-USER-NOT-FOUND","errorMessage":"","success":false}';
    partner.behave = replies({ status: 404, body, headers: UNSIGNED });
    for (let call = 0; call < 5; call++) await client.call(at(ONE), BALANCE);
    expect(client.circuitOf(ONE)).toBe('closed');
    for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
    expect(client.circuitOf(ONE)).toBe('open');
    clock.advance(1500);
    // An unsigned refusal of a balance does not close the circuit either.
    await client.call(at(ONE), BALANCE);
    expect(client.circuitOf(ONE)).toBe('open');
    partner.behave = replies({});
    await client.call(at(ONE), DEDUCT);
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('holds nothing against a partner that it would not, or should not, call', async () => {
    const ended = AbortSignal.abort();
    for (let call = 0; call < 5; call++) {
      await client.call(at(ONE), DEDUCT, { signal: ended });
      await client.call(anEndpoint({ partnerId: ONE, baseUrl: 'https://169.254.169.254' }), DEDUCT);
    }
    expect(client.circuitOf(ONE)).toBe('closed');
    expect(partner.connections).toBe(0);
  });

  it('has a circuit and a limit for each partner', async () => {
    partner.behave = (socket) => socket.resetAndDestroy();
    for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
    partner.behave = replies({});
    expect(await client.call(at(TWO), DEDUCT)).toMatchObject({ verdict: 'verified' });
    expect([client.circuitOf(ONE), client.circuitOf(TWO)]).toEqual(['open', 'closed']);
  });
});

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
