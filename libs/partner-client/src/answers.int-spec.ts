/** Whole answers of every kind, over real sockets. The partner gets each call exactly once. */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aClient, CONFIRM, deduct, endpointOf } from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  headersOf,
  replies,
  RoguePartner,
  signatureFor,
  SUCCESS,
  UNSIGNED,
} from './testing/rogue-partner.support.js';

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

const LATE = new Date(Date.now() + 90_000_000).toUTCString();
const EARLY = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const PRETTY = JSON.stringify({ success: true, partnerTransactionId: 'ptx-1' }, null, 2);
const DUPLICATE = '{"errorCode":"ERR-DUPLICATE-REQUEST","errorMessage":"","success":false}';
const READ = { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } };

describe('an answer', () => {
  it.each<[string, Behaviour, object]>([
    [
      'that came before the body of the request was read',
      (socket, request) => socket.write(answer(request)),
      { verdict: 'verified', alert: false },
    ],
    [
      'after 102 and 103',
      (socket, request) => socket.end(Buffer.concat([Buffer.from(EARLY), answer(request)])),
      { verdict: 'verified', status: 200 },
    ],
    [
      'in chunks',
      (socket, request) => {
        const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
        const headers = headersOf(request, SUCCESS, chunked);
        const texts = [SUCCESS.slice(0, 5), SUCCESS.slice(5), ''];
        const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
        socket.end(answer(request, { headers, body: chunks.join('') }));
      },
      { verdict: 'verified' },
    ],
    [
      'that ends with the connection',
      replies({ headers: { 'content-length': undefined } }),
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
      replies({ headers: UNSIGNED }),
      { verdict: 'unsigned', alert: true, reply: READ },
    ],
    [
      'with a signature twice',
      (socket, request) => {
        const second = ['X-API-Signature', signatureFor(request, SUCCESS)] as const;
        socket.end(answer(request, { headers: [...headersOf(request, SUCCESS), second] }));
      },
      { verdict: 'bad-signature', alert: true },
    ],
    [
      'signed over its canonical form only',
      (socket, request) => {
        const headers = { 'x-api-signature': signatureFor(request, SUCCESS) };
        replies({ body: PRETTY, headers })(socket, request);
      },
      { verdict: 'verified', reply: READ },
    ],
    [
      'of a page in HTML',
      replies({ body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }),
      { verdict: 'not-json', reply: { signature: 'valid' }, alert: false },
    ],
    ['in broken JSON', replies({ body: '{"success":tru' }), { verdict: 'not-json' }],
    [
      'in gzip',
      (socket, request) => {
        const signature = { 'x-api-signature': signatureFor(request, SUCCESS) };
        const headers = { 'content-encoding': 'gzip', ...signature };
        replies({ body: gzipSync(SUCCESS), headers })(socket, request);
      },
      { verdict: 'encoded' },
    ],
    [
      'that redirects',
      replies({ status: 307, body: '', headers: { ...UNSIGNED, location: '/elsewhere' } }),
      { status: 307, verdict: 'not-json', alert: true },
    ],
    [
      'of 429',
      replies({ status: 429, headers: { 'retry-after': '7' } }),
      { status: 429, retryAfterSeconds: 7 },
    ],
    [
      'of 503 with a date far off',
      replies({
        ...{ status: 503, body: 'down' },
        headers: { ...UNSIGNED, 'retry-after': LATE, 'content-type': undefined },
      }),
      {
        ...{ status: 503, verdict: 'not-json', reply: { signature: 'missing' } },
        ...{ retryAfterSeconds: 86_400, alert: false },
      },
    ],
    [
      'of 409 in the envelope, unsigned as is allowed',
      replies({ status: 409, body: DUPLICATE, headers: UNSIGNED }),
      { status: 409, verdict: 'unsigned', alert: false, reply: { signature: 'missing' } },
    ],
    [
      'of 409 under a wrong signature',
      replies({ status: 409, headers: { 'x-api-signature': 'ab'.repeat(32) } }),
      { status: 409, verdict: 'bad-signature', alert: true },
    ],
    [
      'of exactly 64 KiB',
      replies({ body: `"${'x'.repeat(65_534)}"` }),
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
    partner.behave = replies({ body: '{"success":true}', headers: UNSIGNED });
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
