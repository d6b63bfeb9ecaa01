/** Whole answers of every kind, over real sockets. The partner gets each call exactly once. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aClient, CONFIRM, deduct, endpointOf } from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  headersOf,
  RoguePartner,
  signatureFor,
  SUCCESS,
} from './testing/rogue-partner.support.js';

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

const LATE = new Date(Date.now() + 90_000_000).toUTCString();

describe('an answer', () => {
  it.each<[string, Behaviour, object]>([
    [
      'that came before the body of the request was read',
      (socket, request) => socket.write(answer(request)),
      { verdict: 'verified', alert: false },
    ],
    [
      'after 102 and 103',
      (socket, request) =>
        socket.end(
          Buffer.concat([
            Buffer.from(
              'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
            ),
            answer(request),
          ]),
        ),
      { verdict: 'verified', status: 200 },
    ],
    [
      'in chunks',
      (socket, request) => {
        const headers = headersOf(request, SUCCESS, {
          'content-length': undefined,
          'transfer-encoding': 'chunked',
        });
        const [one, two] = [SUCCESS.slice(0, 5), SUCCESS.slice(5)];
        const chunks = [one, two].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
        socket.end(answer(request, { headers, body: `${chunks.join('')}0\r\n\r\n` }));
      },
      { verdict: 'verified' },
    ],
    [
      'that ends with the connection',
      (socket, request) =>
        socket.end(
          answer(request, {
            headers: headersOf(request, SUCCESS, { 'content-length': undefined }),
          }),
        ),
      { verdict: 'verified' },
    ],
    [
      'cut short where only the connection tells its end',
      (socket, request) => {
        const headers = headersOf(request, SUCCESS, { 'content-length': undefined });
        socket.end(answer(request, { headers, body: SUCCESS.slice(0, -4) }));
      },
      { verdict: 'bad-signature', alert: true, reply: { signature: 'wrong' } },
    ],
    [
      'without a signature',
      (socket, request) =>
        socket.end(
          answer(request, {
            headers: headersOf(request, SUCCESS, { 'x-api-signature': undefined }),
          }),
        ),
      {
        verdict: 'unsigned',
        alert: true,
        reply: { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } },
      },
    ],
    [
      'with a signature twice',
      (socket, request) =>
        socket.end(
          answer(request, {
            headers: [
              ...headersOf(request, SUCCESS),
              ['X-API-Signature', signatureFor(request, SUCCESS)],
            ],
          }),
        ),
      { verdict: 'bad-signature', alert: true },
    ],
    [
      'signed over its canonical form only',
      (socket, request) => {
        const body = JSON.stringify({ success: true, partnerTransactionId: 'ptx-1' }, null, 2);
        const headers = headersOf(request, body, {
          'x-api-signature': signatureFor(request, SUCCESS),
        });
        socket.end(answer(request, { headers, body }));
      },
      {
        verdict: 'verified',
        reply: { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } },
      },
    ],
    [
      'of a page in HTML',
      (socket, request) => {
        const body = '<html>Bad gateway</html>';
        const headers = headersOf(request, body, { 'content-type': 'text/html' });
        socket.end(answer(request, { headers, body }));
      },
      { verdict: 'not-json', reply: { signature: 'valid' }, alert: false },
    ],
    [
      'in broken JSON',
      (socket, request) => socket.end(answer(request, { body: '{"success":tru' })),
      { verdict: 'not-json' },
    ],
    [
      'in gzip',
      (socket, request) => {
        const body = gzipSync(SUCCESS);
        const headers = headersOf(request, body, {
          'content-encoding': 'gzip',
          'x-api-signature': signatureFor(request, SUCCESS),
        });
        socket.end(answer(request, { headers, body }));
      },
      { verdict: 'encoded' },
    ],
    [
      'that redirects',
      (socket, request) =>
        socket.end(
          answer(request, {
            status: 307,
            body: '',
            headers: [
              ['location', `http://127.0.0.1:${partner.port}/elsewhere`],
              ['content-length', '0'],
            ],
          }),
        ),
      { status: 307, verdict: 'not-json', alert: true },
    ],
    [
      'of 429',
      (socket, request) =>
        socket.end(
          answer(request, {
            status: 429,
            headers: headersOf(request, SUCCESS, { 'retry-after': '7' }),
          }),
        ),
      { status: 429, retryAfterSeconds: 7 },
    ],
    [
      'of 503 with a date far off',
      (socket, request) =>
        socket.end(
          answer(request, {
            status: 503,
            body: 'down',
            headers: [
              ['retry-after', LATE],
              ['content-length', '4'],
            ],
          }),
        ),
      {
        status: 503,
        verdict: 'not-json',
        reply: { signature: 'missing' },
        retryAfterSeconds: 86_400,
        alert: false,
      },
    ],
    [
      'of 409 in the envelope, unsigned as is allowed',
      (socket, request) => {
        const body = '{"errorCode":"ERR-DUPLICATE-REQUEST","errorMessage":"","success":false}';
        const headers = headersOf(request, body, { 'x-api-signature': undefined });
        socket.end(answer(request, { status: 409, headers, body }));
      },
      { status: 409, verdict: 'unsigned', alert: false, reply: { signature: 'missing' } },
    ],
    [
      'of 409 under a wrong signature',
      (socket, request) => {
        const headers = headersOf(request, SUCCESS, { 'x-api-signature': 'ab'.repeat(32) });
        socket.end(answer(request, { status: 409, headers }));
      },
      { status: 409, verdict: 'bad-signature', alert: true },
    ],
    [
      'of exactly 64 KiB',
      (socket, request) => socket.end(answer(request, { body: `"${'x'.repeat(65_534)}"` })),
      { verdict: 'verified', record: expect.objectContaining({ answerBytes: 65_536 }) },
    ],
    [
      'with bytes behind its end',
      (socket, request) => socket.end(Buffer.concat([answer(request), answer(request)])),
      { verdict: 'verified' },
    ],
  ])('%s', async (_case, behave, expected) => {
    partner.behave = behave;
    const result = await deduct(partner);
    expect(result).toMatchObject({ kind: 'answer', phase: 'done', ...expected });
    expect(partner.requests).toHaveLength(1);
    expect(partner.connections).toBe(1);
  });

  it('to a confirmation needs no signature, and nobody hears of it', async () => {
    partner.behave = (socket, request) => {
      const body = '{"success":true}';
      const headers = headersOf(request, body, { 'x-api-signature': undefined });
      socket.end(answer(request, { body, headers }));
    };
    const client = aClient({ gate: { threshold: 2 } });
    for (let call = 0; call < 3; call++) {
      const result = await client.call(endpointOf(partner), CONFIRM);
      const reply = { json: { value: { success: true } } };
      expect(result).toMatchObject({ verdict: 'unsigned', alert: false, reply });
    }
  });

  it('to another call does not verify', async () => {
    const bodies: string[] = [];
    partner.behave = (socket, request) => {
      bodies.push(signatureFor(request, SUCCESS));
      const headers = headersOf(request, SUCCESS, { 'x-api-signature': bodies[0] });
      socket.end(answer(request, { headers }));
    };
    const client = aClient();
    expect(await deduct(partner, client)).toMatchObject({ verdict: 'verified' });
    expect(await deduct(partner, client)).toMatchObject({ verdict: 'bad-signature', alert: true });
  });
});
