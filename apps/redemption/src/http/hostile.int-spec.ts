/** Bytes that are no proper request: every answer has the envelope and an id. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exchange, HTTP_PIECES, type RawAnswer } from '#libs/testing/wire';
import { type Service, startService } from '../testing/redemption-harness.support.js';

let service: Service;
/** The answer to headers that never end. It takes ten seconds, in which the other tests run. */
let late: Promise<RawAnswer | undefined>;

beforeAll(async () => {
  service = await startService();
  late = one('GET / HTTP/1.1\r\nHost: a\r\n');
});
afterAll(() => service.stop());

function expectError(answer: RawAnswer | undefined, status: number, code = 'BAD_REQUEST'): void {
  if (answer === undefined) throw new Error('no answer');
  expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
    status,
    body: { success: false, code, message: expect.any(String) },
  });
  expectCommon(answer);
}

function expectCommon({ headers }: RawAnswer): void {
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-content-type-options']).toBe('nosniff');
}

const one = async (...parts: string[]): Promise<RawAnswer | undefined> => {
  const [answer, ...more] = await exchange(service.port, parts);
  expect(more).toEqual([]);
  return answer;
};

describe('what the parser refuses', () => {
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nbad\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length beside chunks',
      'POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nHost: a\u0001\r\n\r\n'],
    ['a version that does not exist', 'GET / HTTP/3.9\r\n\r\n'],
    [
      'a broken chunk',
      'POST /api/auth/verify HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
    ],
  ])('%s is 400', async (_, bytes) => {
    expectError(await one(bytes), 400);
  });

  it('headers beyond the limit are 431', async () => {
    expectError(await one(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), 431);
  });

  it('chunk extensions beyond the limit are 413', async () => {
    const head =
      'POST /api/auth/verify HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    expectError(await one(`${head}1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`), 413);
  });

  it('garbage behind a request does not cost the answer to it', async () => {
    const parts = ['GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n', 'garbage\r\n\r\n'];
    // Behind an answer that is still to come, the garbage would get none.
    const [answer, refusal] = await exchange(service.port, parts, { pauseMs: 500 });
    expect(answer?.status).toBe(200);
    expectError(refusal, 400);
  });

  it('a client that goes on sending is cut off', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('garbage\r\n\r\n');
    const flood = setInterval(() => socket.write('x'), 20);
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(flood);
    expect(socket.destroyed).toBe(true);
  });
});

describe('what the router and the body parser refuse', () => {
  const CLOSE = 'Host: a\r\nConnection: close\r\n';

  it.each([
    ['/%zz', 400],
    ['/%c0%af', 400],
    ['/api/redemptions/%', 400],
    ['//evil.example', 404],
    ['/..%2f..%2fetc', 404],
    ['http://[::1]/x', 404],
    ['/nowhere', 404],
  ])('%s is %s', async (path, status) => {
    const code = status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST';
    expectError(await one(`GET ${path} HTTP/1.1\r\n${CLOSE}\r\n`), status, code);
  });

  it('a request without Host is served', async () => {
    expect(await one('GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatchObject({
      status: 200,
    });
  });

  it.each(['PUT', 'TRACE', 'M-SEARCH', 'PROPFIND'])('%s has no route', async (method) => {
    expectError(await one(`${method} /api/redemptions HTTP/1.1\r\n${CLOSE}\r\n`), 404, 'NOT_FOUND');
  });

  it.each([
    ['text/plain', '{}', 415, 'body is not supported: send application/json.'],
    ['application/json; charset=x', '{', 400, 'is not JSON: line 1, column 2'],
    ['application/json', '{"__proto__":{"x":1},"__proto__":{}}', 400, 'the name __proto__'],
  ])('a body of %s is answered in the envelope', async (type, body, status, message) => {
    const head = `POST /api/auth/verify HTTP/1.1\r\n${CLOSE}Content-Type: ${type}\r\n`;
    const answer = await one(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    expect(answer?.status).toBe(status);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      success: false,
      code: 'BAD_REQUEST',
      message: expect.stringContaining(message) as unknown,
    });
    if (answer) expectCommon(answer);
  });

  it('a body beyond the limit is 413, announced or in chunks', async () => {
    const head = `POST /api/auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
    expectError(await one(`${head}Content-Length: 999999\r\n\r\n`), 413);
    const chunk = `4000\r\n${'1'.repeat(0x4000)}\r\n`;
    expectError(await one(`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk), 413);
  });

  it.each([
    ['/health/live', 200],
    ['/nowhere', 404],
    ['/%zz', 400],
    ['/api/redemptions', 401],
  ])('HEAD %s has the length of the body and none of it', async (path, status) => {
    const request = `HEAD ${path} HTTP/1.1\r\n${CLOSE}\r\n`;
    const [answer, ...more] = await exchange(service.port, [request], { methods: ['HEAD'] });
    expect(more).toEqual([]);
    expect(answer?.status).toBe(status);
    expect(Number(answer?.headers['content-length'])).toBeGreaterThan(10);
    expect(answer?.body).toBe('');
    if (answer) expectCommon(answer);
  });

  it('HEAD that cannot be parsed has none of it either', async () => {
    const request = 'HEAD / HTTP/1.1\r\nbad\r\n\r\n';
    const [answer, ...more] = await exchange(service.port, [request], { methods: ['HEAD'] });
    expect([answer?.status, more]).toEqual([400, []]);
  });
});

const anyBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const pieces = fc.oneof(
  ...HTTP_PIECES.map(({ weight, texts }) => ({
    weight,
    arbitrary: fc.constantFrom(...texts).map((text) => Buffer.from(text, 'latin1')),
  })),
  { weight: 1, arbitrary: anyBytes },
);

describe('hostile input', () => {
  it('whatever bytes are sent, whatever is answered has an id, and every error the envelope', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (parts) => {
        const bytes = Buffer.concat([...parts, Buffer.from('Connection: close\r\n\r\n')]);
        service.clock.advance(10_000);
        const answers = await exchange(service.port, [bytes], { pauseMs: 1, end: true });
        for (const answer of answers) {
          expectCommon(answer);
          if (answer.status < 400 || !answer.body.startsWith('{')) continue;
          expect(answer.body).toMatch(/^\{"success":false,"code":"[A-Z_]+","message":".+"/);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('headers that never end are 408', async () => {
    expectError(await late, 408);
  });
});
