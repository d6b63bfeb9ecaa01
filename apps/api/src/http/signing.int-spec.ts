import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { httpbis } from 'http-message-signatures';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { HTTP_PIECES } from '#libs/testing/wire';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import {
  answerTo,
  exchange,
  expectError,
  expectSigned,
  type RawAnswer,
} from '../testing/wire.support.js';

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi();
  partner = await addPartner(api, 'signing');
  await seedIndex(api);
});
afterAll(() => api.stop());

const PATH = '/api/staking/snapshots';

const anyBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const pieces = fc.oneof(
  ...HTTP_PIECES.map(({ weight, texts }) => ({
    weight,
    arbitrary: fc.constantFrom(...texts).map((text) => Buffer.from(text, 'latin1')),
  })),
  { weight: 1, arbitrary: anyBytes },
);

describe('every answer is signed, whatever is sent', () => {
  const HTTP = 'HTTP/1.1\r\nHost: a';
  const upper = PATH.toUpperCase();
  const json = `POST /x ${HTTP}\r\nContent-Type: application/json`;

  /** @param head request line and headers, without the key */
  async function ask(
    head: string,
    body = head.includes('Content-Type') ? '{"a}' : '',
  ): Promise<RawAnswer> {
    const close = head.includes('Connection:') ? '' : 'Connection: close\r\n';
    const request = `${head}\r\nX-API-KEY: ${partner.apiKey}\r\n${close}\r\n${body}`;
    const [answer, ...more] = await exchange(api.port, [request]);
    expect(more).toEqual([]);
    if (answer === undefined) throw new Error('no answer');
    return answer;
  }

  function expectSignedFor(answer: RawAnswer, head: string, path: string): void {
    const method = head.split(' ')[0] ?? '';
    expectSigned(answer, { method, path, secret: partner.sharedSecret });
  }

  it.each<[name: string, head: string, path: string, status?: number]>([
    ['an unknown route', `GET /nowhere?x=1 ${HTTP}`, '/nowhere'],
    ['the root', `GET / ${HTTP}`, '/'],
    ['an unknown method on a route', `POST ${PATH} ${HTTP}\r\nContent-Length: 0`, PATH],
    ['OPTIONS *', `OPTIONS * ${HTTP}`, '*'],
    ['a method the framework does not know', `PROPFIND /x ${HTTP}`, '/x'],
    ['a path with dots and doubled slashes', `GET //a/../b//c/./ ${HTTP}`, '//a/../b//c/./'],
    ['an absolute target', `GET http://h:1/nowhere?x ${HTTP}`, '/nowhere'],
    ['a slash at the end of a route', `GET ${PATH}/ ${HTTP}`, `${PATH}/`],
    ['a route in other case', `GET ${upper} ${HTTP}`, upper],
    ['HTTP/1.0 without Host', 'GET /x HTTP/1.0', '/x'],
    ['an expectation', `GET /x ${HTTP}\r\nExpect: the-impossible`, '/x'],
    ['an upgrade', `GET /x ${HTTP}\r\nConnection: Upgrade, close\r\nUpgrade: websocket`, '/x'],
    ['accept-version', `GET /x ${HTTP}\r\nAccept-Version: 9`, '/x'],
    ['XML', `POST /x ${HTTP}\r\nContent-Type: text/xml\r\nContent-Length: 4`, '/x'],
    ['a badly percent-encoded path', `GET /api/%zz?q=1 ${HTTP}`, '/api/%zz', 400],
    ['a path cut inside a character', `GET /api/%E0%A4%A ${HTTP}`, '/api/%E0%A4%A', 400],
    ['headers over the limit', `GET /x ${HTTP}\r\nX: ${'a'.repeat(20_000)}`, '/x', 431],
    ['a URL over the limit', `GET /x?${'a'.repeat(20_000)} ${HTTP}`, '/x', 431],
    ['a missing Host', 'GET /x HTTP/1.1', '/x', 400],
    ['no media type', `POST /x ${HTTP}\r\nContent-Type: ;;\r\nContent-Length: 4`, '/x', 415],
    ['a body that is announced too large', `${json}\r\nContent-Length: 99999`, '/x', 413],
    ['broken JSON', `${json}\r\nContent-Length: 4`, '/x', 400],
    ['a packed body', `${json}\r\nContent-Encoding: gzip\r\nContent-Length: 4`, '/x', 415],
    ['one packed twice', `${json}\r\nContent-Encoding: identity, br`, '/x', 415],
  ])('%s', async (_, head, path, status = 404) => {
    const answer = await ask(head);
    expectError(answer, status, status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST');
    expectSignedFor(answer, head, path);
  });

  it('a body that is said to be plain', async () => {
    const head = `${json}\r\nContent-Encoding: Identity\r\nContent-Length: 2`;
    expectError(await ask(head, '{}'), 404, 'NOT_FOUND');
  });

  it('a body sent in chunks beyond the limit', async () => {
    const key = `X-API-KEY: ${partner.apiKey}`;
    const head = `${json}\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `4000\r\n${'1'.repeat(0x4000)}\r\n`;
    const answer = await answerTo(api.port, [head, chunk, chunk]);
    expectError(answer, 413, 'BAD_REQUEST');
    expectSignedFor(answer, head, '/x');
  });

  it.each(['/health/live', '/metrics', '/docs'])(
    'HEAD %s has the length of the body and none of it',
    async (path) => {
      const head = `HEAD ${path} ${HTTP}\r\nConnection: close\r\nX-API-KEY: ${partner.apiKey}\r\n\r\n`;
      const [answer, ...more] = await exchange(api.port, [head], { methods: ['HEAD'] });
      expect(more).toEqual([]);
      expect(Number(answer?.headers['content-length'])).toBeGreaterThan(10);
      if (answer) expectSignedFor(answer, head, path);
    },
  );

  it('any bytes', async () => {
    const tail = Buffer.from(`X-API-KEY: ${partner.apiKey}\r\nConnection: close\r\n\r\n`);
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (parts) => {
        api.clock.advance(10_000);
        const bytes = Buffer.concat([...parts, tail]);
        const answers = await exchange(api.port, [bytes], { pauseMs: 1, end: true });
        for (const { status, headers } of answers) {
          expect(status).toBeGreaterThanOrEqual(200);
          expect(headers['x-api-signature']).toMatch(/^[0-9a-f]{64}$/);
          expect(headers['x-api-version']).toBeDefined();
          expect(headers['x-ratelimit-limit']).toBeDefined();
          expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('what cannot be parsed is answered and signed with the secret of the environment', () => {
  const HTTP = 'HTTP/1.1\r\nHost: a\r\n';
  const LENGTH = 'Content-Length: 1\r\n';
  /** Beyond what is read at all. */
  const huge = `X: ${'a'.repeat(200_000)}\r\n`;

  it.each<[name: string, request: string, status: number, line: string]>([
    ['bytes beyond ASCII', `GET /caf\xc3\xa9 ${HTTP}\r\n`, 400, 'GET /caf\xc3\xa9'],
    ['bytes that are not UTF-8', `GET /caf\xe9 ${HTTP}\r\n`, 400, 'GET /caf\xe9'],
    ['a target that is no path', `GET nowhere ${HTTP}\r\n`, 400, 'GET nowhere'],
    ['no HTTP at all', 'hello\r\n\r\n', 400, ' '],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00', 400, ' '],
    ['an unknown method', 'FETCH /x HTTP/1.1\r\n\r\n', 400, 'FETCH /x'],
    ['a blank in the path', 'GET /x y HTTP/1.1\r\n\r\n', 400, ' '],
    ['a header without a colon', `GET /x?y ${HTTP}bad\r\n\r\n`, 400, 'GET /x'],
    ['a control character', `GET /x ${HTTP}A: \x01\r\n\r\n`, 400, 'GET /x'],
    ['two lengths', `POST /x ${HTTP}${LENGTH}Content-Length: 2\r\n\r\n`, 400, 'POST /x'],
    [
      'length and chunks',
      `POST /x ${HTTP}${LENGTH}Transfer-Encoding: chunked\r\n\r\n`,
      400,
      'POST /x',
    ],
    ['huge headers', `GET /x ${HTTP}${huge}\r\n`, 431, ' '],
    ['a HEAD request', `HEAD /x ${HTTP}bad\r\n\r\n`, 400, 'HEAD /x'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'PRI *'],
  ])('%s', async (_, request, status, line) => {
    const [method = '', path = ''] = line.split(' ');
    const [answer, ...more] = await exchange(api.port, [request], { methods: [method] });
    expect(more).toEqual([]);
    if (answer === undefined) throw new Error('no answer');
    expect(answer.status).toBe(status);
    if (method !== 'HEAD') expectError(answer, status, 'BAD_REQUEST');
    expect(answer.headers['connection']).toBe('close');
    expectSigned(answer, { method, path, secret: ANON_SECRET });
  });

  it('a body whose chunks are broken is answered for its own request', async () => {
    const head =
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n';
    const parts = [`${head}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n'];
    const answer = await answerTo(api.port, parts);
    expect(answer.status).toBe(400);
    // The request line was in an earlier packet, so method and path are empty.
    expectSigned(answer, { method: '', path: '', secret: ANON_SECRET });
  });

  it('garbage behind a good request never takes the place of its answer', async () => {
    const good = `GET /x HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${partner.apiKey}\r\n\r\n`;
    const answer = await answerTo(api.port, [`${good}garbage\r\n\r\n`]);
    expectError(answer, 404, 'NOT_FOUND');
    expectSigned(answer, { method: 'GET', path: '/x', secret: partner.sharedSecret });
  });

  it('pipelined requests are answered in order, each with its own signature', async () => {
    const lines = ['GET /one', 'HEAD /two', 'DELETE /three'];
    const requests = lines.map((line, i) => {
      const last = i === lines.length - 1 ? 'Connection: close\r\n' : '';
      return `${line} HTTP/1.1\r\nHost: a\r\n${last}\r\n`;
    });
    const methods = ['GET', 'HEAD', 'DELETE'];
    const answers = await exchange(api.port, [requests.join('')], { methods });
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    answers.forEach((answer, i) => {
      const [method = '', path = ''] = lines[i]?.split(' ') ?? [];
      expectSigned(answer, { method, path, secret: ANON_SECRET });
    });
  });

  it('a client that waits for 100 Continue gets its signed answer after it', async () => {
    const head = 'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n';
    const answer = await answerTo(api.port, [`${head}Content-Length: 2\r\n\r\n`, '{}']);
    expect(answer.status).toBe(404);
    expectSigned(answer, { method: 'POST', path: '/x', secret: ANON_SECRET });
  });
});

describe('an answer that is asked for with Accept-Signature', () => {
  const DIRECTORY = '/.well-known/http-message-signatures-directory';
  const ED25519 = 'sig=();alg="ed25519";nonce="a nonce"';
  const HMAC = 'sig=();alg="hmac-sha256"';
  const target = `${PATH}?walletAddress=${aWallet(1)}&lastDays=3`;

  interface Asked {
    readonly by?: MintedCredential;
    readonly of?: string;
    readonly method?: string;
  }

  const ask = (accept: string, { by = partner, of = target, method = 'GET' }: Asked = {}) =>
    api.as(by).ask(of, { method, headers: { 'accept-signature': accept } });

  /**
   * Verifies an answer as a third party can: with the published keys and another implementation; hmac-sha256 with the
   * partner's secret.
   */
  async function isVerified(
    { status, headers, body }: RawAnswer,
    of = target,
    method = 'GET',
  ): Promise<boolean> {
    const digest = createHash('sha256').update(body).digest('base64');
    expect(headers['content-digest']).toBe(`sha-256=:${digest}:`);
    const verified = await httpbis.verifyMessage(
      {
        all: true,
        notAfter: new Date(api.clock.nowMs() + 1000),
        requiredFields: ['@status', '@method', '@path', '@query', 'content-digest'],
        requiredParams: ['created', 'keyid', 'alg'],
        keyLookup: async ({ alg, keyid }) => ({
          verify: alg === 'ed25519' ? await byPublished(String(keyid)) : bySecret,
        }),
      },
      { status, headers },
      { method, url: api.url + of, headers: {} },
    );
    return verified === true;
  }

  const publicKeys = (): Promise<{ keys: { kid: string; x: string }[] }> =>
    api.as().read(DIRECTORY);

  async function byPublished(keyId: string) {
    const x = (await publicKeys()).keys.find(({ kid }) => kid === keyId)?.x ?? '';
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return (data: Buffer, given: Buffer) => Promise.resolve(verify(null, data, key, given));
  }

  const bySecret = (data: Buffer, given: Buffer): Promise<boolean> =>
    Promise.resolve(createHmac('sha256', partner.sharedSecret).update(data).digest().equals(given));

  it.each([HMAC, `one=();alg="ed25519", two=();alg="hmac-sha256"`])(
    'is verified by another implementation: %s',
    async (accept) => {
      const answer = await ask(accept);
      expect([answer.status, await isVerified(answer)]).toEqual([200, true]);
    },
  );

  it('is of no use for another wallet or number of days, and has nonce and time', async () => {
    const answer = await ask(ED25519);
    expect(await isVerified(answer)).toBe(true);
    expect(await isVerified(answer, target.replace('lastDays=3', 'lastDays=4'))).toBe(false);
    expect(await isVerified(answer, target.replace(aWallet(1), aWallet(2)))).toBe(false);
    const { 'signature-input': input } = answer.headers;
    expect(input).toContain(';nonce="a nonce"');
    expect(input).toContain(`;created=${Math.floor(api.clock.nowMs() / 1000)};`);
  });

  it('is signed as asked whatever it is: a HEAD, a refusal, one beyond the limit', async () => {
    const slow = await addPartner(api, 'slow', { rate: 1, burst: 1 });
    await ask(ED25519, { by: slow });
    for (const [status, asked] of [
      [200, { method: 'HEAD' }],
      [404, { of: `${PATH}?walletAddress=${aWallet(99)}` }],
      [404, { of: '/nowhere?x=1' }],
      [400, { of: `${PATH}?walletAddress=0x` }],
      [429, { by: slow }],
    ] satisfies [number, Asked][]) {
      const answer = await ask(ED25519, asked);
      const { of, method }: Asked = asked;
      expect([asked, answer.status]).toEqual([asked, status]);
      expect([asked, await isVerified(answer, of, method)]).toEqual([asked, true]);
    }
  });

  it('has no signature with a secret where the caller has none', async () => {
    const by = { apiKey: '', sharedSecret: ANON_SECRET };
    const answer = await ask(HMAC, { by });
    expect([answer.status, answer.headers['signature']]).toEqual([401, undefined]);
    const both = await ask(`a=();alg="ed25519", ${HMAC}`, { by });
    expect(both.headers['signature-input']).toMatch(/^a=\([^,]*;alg="ed25519"$/);
    expect(await isVerified(both)).toBe(true);
  });

  it.each([
    ['is no structured field', '((('],
    ['asks for a component that is not covered', 'sig=("date")'],
    ['is too long', `sig=();nonce="${'n'.repeat(2000)}"`],
  ])('is refused where the header %s', async (_, accept) => {
    const answer = await ask(accept);
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain('Accept-Signature');
  });

  it('has keys that anyone may read, without a secret', async () => {
    const text = expect.stringMatching(/^[\w-]{43}$/);
    expect((await publicKeys()).keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid: text, x: text },
    ]);
  });
});
