import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, type UuidV7 } from '#libs/domain';
import { believableJson, type Reply } from '#libs/partner-sdk/answers';
import { hmacSha256Hex } from '#libs/signing';
import { anEndpoint } from './testing/partner-bench.support.js';
import { SHARED_SECRET, SUCCESS } from './testing/rogue-partner.support.js';
import { type ReceivedAnswer, replyOf, retryAfterSeconds, verdictOf } from './verify-answer.js';

const CALL = {
  method: 'POST',
  path: '/v1/deduct-points-by-address',
  requestId: '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d' as UuidV7,
};
const HEAD = CALL.method + CALL.path + CALL.requestId;
const sign = (body: string | Uint8Array, secret = SHARED_SECRET, head = HEAD): string =>
  hmacSha256Hex(secret, Buffer.concat([Buffer.from(head), Buffer.from(body)]));

function judge(body: string | Uint8Array, more: Partial<ReceivedAnswer> = {}) {
  const headers = { 'content-type': 'application/json', 'x-api-signature': sign(body) };
  const received = { status: 200, ...more, headers: { ...headers, ...more.headers } };
  const reply = replyOf({ ...received, body: Buffer.from(body) }, CALL, anEndpoint());
  const json = believableJson(reply);
  return { verdict: verdictOf(reply), signature: reply.signature, ...(json && { json }) };
}

const good = sign(SUCCESS);

describe('the signature of an answer', () => {
  it.each<[string, string | string[] | undefined, Reply['signature']]>([
    ['over the bytes', good, 'valid'],
    ['left out', undefined, 'missing'],
    ['that is empty', '', 'wrong'],
    ['in upper case', good.toUpperCase(), 'wrong'],
    ['of half the length', good.slice(0, 32), 'wrong'],
    ['with a prefix', `sha256=${good}`, 'wrong'],
    ['beyond ASCII', 'é'.repeat(64), 'wrong'],
    ['given twice', [good, good], 'wrong'],
    ['given twice in one', `${good}, ${good}`, 'wrong'],
    ['of another secret', sign(SUCCESS, 'other'), 'wrong'],
    ['of another body', sign('{}'), 'wrong'],
    ['of the body alone', sign(SUCCESS, SHARED_SECRET, ''), 'wrong'],
    ['of another method', sign(SUCCESS, SHARED_SECRET, HEAD.replace('POST', 'GET')), 'wrong'],
    ['of another path', sign(SUCCESS, SHARED_SECRET, HEAD.replace('/v1', '')), 'wrong'],
    ['of another call', sign(SUCCESS, SHARED_SECRET, HEAD.replace('3d', '3e')), 'wrong'],
  ])('%s', (_case, header, signature) => {
    for (const status of [200, 409]) {
      const answer = judge(SUCCESS, { status, headers: { 'x-api-signature': header } });
      const required = { missing: 'unsigned', wrong: 'bad-signature' };
      const verdict = signature in required ? required[signature as 'wrong'] : 'verified';
      expect(answer).toMatchObject({ signature, verdict });
    }
  });

  it('may be over the canonical form instead of the bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), (value) => {
        const canonical = canonicalJson(value);
        const body = JSON.stringify(value, null, 1);
        const answer = judge(body, { headers: { 'x-api-signature': sign(canonical) } });
        const isSame = canonical === body;
        const signature = isSame ? 'valid' : 'canonical';
        expect(answer).toMatchObject({ verdict: 'verified', signature });
      }),
    );
  });

  it('over the bytes holds whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        expect(judge(body).signature).toBe('valid');
      }),
    );
  });

  it('does not hold for a body with any byte changed', () => {
    const bytes = Buffer.from(SUCCESS);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x20;
      const answer = judge(changed, { headers: { 'x-api-signature': good } });
      // Only a change that the canonical form does not show could pass; in a body without white space there is none.
      expect(answer.verdict).toBe('bad-signature');
    }
  });
});

describe('the body of an answer', () => {
  it.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON;charset=UTF-8'],
  ])('is taken as %s', (type) => {
    expect(judge(SUCCESS, { headers: { 'content-type': type } }).verdict).toBe('verified');
  });

  it.each<[string | string[] | undefined]>([
    [undefined],
    [''],
    ['text/html'],
    ['text/json'],
    ['application/jsonp'],
    ['application/problem+json'],
    [['application/json', 'application/json']],
  ])('is refused as %p', (type) => {
    const answer = judge(SUCCESS, { headers: { 'content-type': type } });
    expect(answer).toEqual({ verdict: 'not-json', signature: 'valid' });
  });

  it.each<[string, string | Buffer]>([
    ['empty', ''],
    ['cut short', SUCCESS.slice(0, -1)],
    ['two values', `${SUCCESS}${SUCCESS}`],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['in UTF-16', Buffer.from(SUCCESS, 'utf16le')],
    ['behind a byte order mark', `\ufeff${SUCCESS}`],
    ['NaN', 'NaN'],
    ['of single quotes', "{'success':true}"],
    ['nested out of all proportion', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['objects nested so', '{"a":'.repeat(33) + '1' + '}'.repeat(33)],
  ])('is no JSON where it is %s', (_case, body) => {
    expect(judge(body)).toEqual({ verdict: 'not-json', signature: 'valid' });
    const unsigned = judge(body, { headers: { 'x-api-signature': undefined } });
    expect(unsigned).toEqual({ verdict: 'unsigned', signature: 'missing' });
  });

  it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x', 'Identity'])(
    'is refused in the encoding %s',
    (encoding) => {
      expect(judge(SUCCESS, { headers: { 'content-encoding': encoding } })).toEqual({
        verdict: 'encoded',
        signature: 'valid',
      });
    },
  );

  it('is taken where the encoding is said to be none', () => {
    const headers = { 'content-encoding': 'identity' };
    expect(judge(SUCCESS, { headers }).verdict).toBe('verified');
  });
});

describe('retryAfterSeconds', () => {
  const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 30);

  it.each([
    [' 7 ', 7],
    ['86401', 86_400],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 7],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 7],
    ['Sun Nov  6 08:49:37 1994', 7],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
    ['', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['20 30', undefined],
    ['2030-01-01T00:00:00Z', undefined],
    ['Sun, 99 Nov 1994 08:49:37 GMT', undefined],
    [undefined, undefined],
    [['1', '2'], undefined],
  ])('reads %p as %p', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW_MS)).toBe(seconds);
  });

  it('is bounded whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        const seconds = retryAfterSeconds(header, NOW_MS) ?? 0;
        expect(seconds >= 0 && seconds <= 86_400).toBe(true);
      }),
    );
  });
});
