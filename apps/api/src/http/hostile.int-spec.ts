import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { exchange, expectError, expectSigned, type RawAnswer } from '../testing/wire.support.js';

let api: Api;
let apiKey: string;
let secret: string;

beforeAll(async () => {
  api = await startApi();
  ({ apiKey, sharedSecret: secret } = await addPartner(api, 'hostile'));
});
afterAll(() => api.stop());

const anyBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const pieces = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'GET',
      'HEAD',
      'POST',
      'OPTIONS',
      'CONNECT',
      'PRI',
      'get',
      'TRACE',
      'M-SEARCH',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ' / HTTP/1.1\r\n',
      ' /api/staking/snapshots?x=%zz HTTP/1.1\r\n',
      ' /%c0%af HTTP/1.0\r\n',
      ' * HTTP/1.1\r\n',
      ' http://[::1]/x HTTP/1.1\r\n',
      ' //evil HTTP/1.1\r\n',
      ' /docs HTTP/3.9\r\n',
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'Host: a\r\n',
      'Host: a\r\nHost: b\r\n',
      'Content-Length: 5\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: gzip\r\n',
      'Expect: 100-continue\r\n',
      'Expect: x\r\n',
      'Upgrade: h2c\r\nConnection: Upgrade\r\n',
      'Content-Type: a/b\r\n',
      'Trailer: x\r\n',
      'X-HTTP-Method-Override: PUT\r\n',
      ' folded\r\n',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('\r\n', '\r\n\r\n', '0\r\n\r\n', '5\r\nabcde\r\n', 'ffffffffff\r\n'),
  },
  { weight: 1, arbitrary: anyBytes },
);

const sound = (answer: RawAnswer): void => {
  expect(answer.status).toBeGreaterThanOrEqual(200);
  expect(answer.headers['x-api-signature']).toMatch(/^[0-9a-f]{64}$/);
  expect(answer.headers['x-api-version']).toBeDefined();
  expect(answer.headers['x-ratelimit-limit']).toBeDefined();
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
};

describe('hostile input', () => {
  it('whatever bytes are sent, whatever is answered is signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (parts) => {
        const key = `X-API-KEY: ${apiKey}\r\n`;
        const bytes = Buffer.concat([
          ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
          Buffer.from(`${key}Connection: close\r\n\r\n`),
        ]);
        api.clock.advance(10_000);
        const answers = await exchange(api.port, [bytes], { pauseMs: 1, end: true });
        answers.forEach(sound);
      }),
      { numRuns: 300 },
    );
  });

  it('a body sent in chunks beyond the limit is 413', async () => {
    const head = `POST /x HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `4000\r\n${'1'.repeat(0x4000)}\r\n`;
    const [answer] = await exchange(api.port, [head, chunk, chunk]);
    if (answer === undefined) throw new Error('no answer');
    expectError(answer, 413, 'BAD_REQUEST');
    expectSigned(answer, { method: 'POST', path: '/x', secret });
  });

  it.each([
    ['JSON that reaches for prototypes', '{"__proto__":{"x":1}}', '', 400],
    ['a body that says it is packed', '{}', 'Content-Encoding: gzip\r\n', 415],
    ['one that says it is packed twice', '{}', 'Content-Encoding: identity, br\r\n', 415],
    [
      'a plain body, said to be so, where there is no route,',
      '{}',
      'Content-Encoding: Identity\r\n',
      404,
    ],
  ])('%s is refused', async (_, body, header, status) => {
    const request = `POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-KEY: ${apiKey}\r\nContent-Type: application/json\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`;
    const [answer] = await exchange(api.port, [request]);
    if (answer === undefined) throw new Error('no answer');
    expectError(answer, status, status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST');
    expectSigned(answer, { method: 'POST', path: '/x', secret });
  });

  it.each(['/health/live', '/metrics', '/docs', '/docs/openapi.json', '/health/ready'])(
    'HEAD %s has the length of the body and none of it, and is signed so',
    async (path) => {
      const request = `HEAD ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-KEY: ${apiKey}\r\n\r\n`;
      const [answer, ...more] = await exchange(api.port, [request], { methods: ['HEAD'] });
      expect(more).toEqual([]);
      expect(Number(answer?.headers['content-length'])).toBeGreaterThan(10);
      if (answer) expectSigned(answer, { method: 'HEAD', path, secret });
    },
  );
});
