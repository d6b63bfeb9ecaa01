import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MintedCredential } from '#libs/signing';
import { addPartner, ANON_SECRET, type Api, startApi } from '../testing/api-harness.support.js';
import { exchange, expectError, expectSigned } from '../testing/wire.support.js';

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi();
  partner = await addPartner(api, 'signing');
});
afterAll(() => api.stop());

const PATH = '/api/staking/snapshots';

describe('every answer is signed, whatever is sent', () => {
  /** name, request (without the key), status, code, method, path */
  const requests: [name: string, head: string, status: number, code: string, path: string][] = [
    ['an unknown route', 'GET /nowhere?x=1 HTTP/1.1\r\nHost: a', 404, 'NOT_FOUND', '/nowhere'],
    ['the root', 'GET / HTTP/1.1\r\nHost: a', 404, 'NOT_FOUND', '/'],
    [
      'an unknown method on a route',
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 0`,
      404,
      'NOT_FOUND',
      PATH,
    ],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a', 404, 'NOT_FOUND', '*'],
    [
      'a method the framework does not know',
      'PROPFIND /x HTTP/1.1\r\nHost: a',
      404,
      'NOT_FOUND',
      '/x',
    ],
    ['another method it does not know', 'PURGE /x HTTP/1.1\r\nHost: a', 404, 'NOT_FOUND', '/x'],
    [
      'a badly percent-encoded path',
      'GET /api/%zz?q=1 HTTP/1.1\r\nHost: a',
      400,
      'BAD_REQUEST',
      '/api/%zz',
    ],
    [
      'a path cut inside a character',
      'GET /api/%E0%A4%A HTTP/1.1\r\nHost: a',
      400,
      'BAD_REQUEST',
      '/api/%E0%A4%A',
    ],
    [
      'a path with dots and doubled slashes',
      'GET //a/../b//c/./ HTTP/1.1\r\nHost: a',
      404,
      'NOT_FOUND',
      '//a/../b//c/./',
    ],
    [
      'an absolute target',
      `GET http://h:1/nowhere?x HTTP/1.1\r\nHost: a`,
      404,
      'NOT_FOUND',
      '/nowhere',
    ],
    [
      'a slash at the end of a route',
      `GET ${PATH}/ HTTP/1.1\r\nHost: a`,
      404,
      'NOT_FOUND',
      `${PATH}/`,
    ],
    [
      'a route in other case',
      `GET ${PATH.toUpperCase()} HTTP/1.1\r\nHost: a`,
      404,
      'NOT_FOUND',
      PATH.toUpperCase(),
    ],
    [
      'headers over the limit',
      `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}`,
      431,
      'BAD_REQUEST',
      '/x',
    ],
    [
      'a URL over the limit',
      `GET /x?${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a`,
      431,
      'BAD_REQUEST',
      '/x',
    ],
    [
      'headers far over the limit',
      `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(100_000)}`,
      431,
      'BAD_REQUEST',
      '/x',
    ],
    ['a missing Host', 'GET /x HTTP/1.1', 400, 'BAD_REQUEST', '/x'],
    ['HTTP/1.0 without Host', 'GET /x HTTP/1.0', 404, 'NOT_FOUND', '/x'],
    [
      'an expectation',
      'GET /x HTTP/1.1\r\nHost: a\r\nExpect: the-impossible',
      404,
      'NOT_FOUND',
      '/x',
    ],
    [
      'an upgrade',
      'GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket',
      404,
      'NOT_FOUND',
      '/x',
    ],
    ['accept-version', 'GET /x HTTP/1.1\r\nHost: a\r\nAccept-Version: 9', 404, 'NOT_FOUND', '/x'],
    [
      'a media type nobody reads',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: 4',
      404,
      'NOT_FOUND',
      '/x',
    ],
    [
      'a media type that is none',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: ;;\r\nContent-Length: 4',
      415,
      'BAD_REQUEST',
      '/x',
    ],
    [
      'a body that is announced too large',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999',
      413,
      'BAD_REQUEST',
      '/x',
    ],
    [
      'broken JSON',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4',
      400,
      'BAD_REQUEST',
      '/x',
    ],
  ];

  it.each(requests.map(([name, ...rest]) => [name, rest] as const))('%s', async (_, row) => {
    const [head, status, code, path] = row;
    const method = head.split(' ')[0] ?? '';
    const request = `${head}\r\nX-API-KEY: ${partner.apiKey}\r\n${head.includes('Connection:') ? '' : 'Connection: close\r\n'}\r\n${head.includes('Content-Type') ? '{"a}' : ''}`;
    const [answer, ...more] = await exchange(api.port, [request]);
    expect(more).toEqual([]);
    if (answer === undefined) throw new Error('no answer');
    expectError(answer, status, code);
    expectSigned(answer, { method, path, secret: partner.sharedSecret });
  });
});

describe('what cannot be parsed is answered and signed with the secret of the environment', () => {
  const garbage: [name: string, request: string, status: number, method: string, path: string][] = [
    [
      'a path with bytes beyond ASCII',
      'GET /caf\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n',
      400,
      'GET',
      '/caf\xc3\xa9',
    ],
    [
      'a path with bytes that are not UTF-8',
      'GET /caf\xe9 HTTP/1.1\r\nHost: a\r\n\r\n',
      400,
      'GET',
      '/caf\xe9',
    ],
    ['a target that is no path', 'GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'GET', 'nowhere'],
    ['no HTTP at all', 'hello\r\n\r\n', 400, '', ''],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00', 400, '', ''],
    ['an unknown method', 'FETCH /x HTTP/1.1\r\n\r\n', 400, 'FETCH', '/x'],
    ['a blank in the path', 'GET /x y HTTP/1.1\r\n\r\n', 400, '', ''],
    ['a header without a colon', 'GET /x?y HTTP/1.1\r\nHost: a\r\nbad\r\n\r\n', 400, 'GET', '/x'],
    [
      'a header with a control character',
      'GET /x HTTP/1.1\r\nHost: a\r\nA: \x01\r\n\r\n',
      400,
      'GET',
      '/x',
    ],
    [
      'two lengths',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'POST',
      '/x',
    ],
    [
      'length and chunks',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'POST',
      '/x',
    ],
    [
      'headers beyond what is read at all',
      `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(200_000)}\r\n\r\n`,
      431,
      '',
      '',
    ],
    ['a HEAD request', 'HEAD /x HTTP/1.1\r\nHost: a\r\nbad\r\n\r\n', 400, 'HEAD', '/x'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'PRI', '*'],
  ];

  it.each(garbage.map(([name, ...rest]) => [name, rest] as const))('%s', async (_, row) => {
    const [request, status, method, path] = row;
    const [answer, ...more] = await exchange(api.port, [request], { methods: [method] });
    expect(more).toEqual([]);
    if (answer === undefined) throw new Error('no answer');
    expect(answer.status).toBe(status);
    if (method !== 'HEAD') expectError(answer, status, 'BAD_REQUEST');
    expect(answer.headers['connection']).toBe('close');
    expectSigned(answer, { method, path, secret: ANON_SECRET });
  });
  it('a body whose chunks are broken is answered for its own request', async () => {
    const head = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    const parts = [`${head}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n'];
    const [answer] = await exchange(api.port, parts);
    expect(answer?.status).toBe(400);
    // The request line was in an earlier packet, so method and path are empty.
    if (answer) expectSigned(answer, { method: '', path: '', secret: ANON_SECRET });
  });

  it('garbage behind a good request never takes the place of its answer', async () => {
    const good = `GET /x HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${partner.apiKey}\r\n\r\n`;
    const [answer] = await exchange(api.port, [`${good}garbage\r\n\r\n`]);
    if (answer === undefined) throw new Error('no answer');
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
    const [answer] = await exchange(api.port, [`${head}Content-Length: 2\r\n\r\n`, '{}']);
    expect(answer?.status).toBe(404);
    if (answer) expectSigned(answer, { method: 'POST', path: '/x', secret: ANON_SECRET });
  });
});
