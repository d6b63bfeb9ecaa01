import { createPublicKey, createHmac, timingSafeEqual, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { httpbis } from 'http-message-signatures';
import {
  AcceptSignatureError,
  AnswerKeys,
  KeyRing,
  type MessageSignatureHeaders,
  parseAcceptSignature,
  type PublicAnswerKey,
  signAnswer,
} from './index.js';

const SECRETS_KEY = Buffer.alloc(32, 7);
const SECRET = 'svcs_test_Mxlw8mcT8glgb4FXerUprvW3Mvjv8g3hOXyWHOk7DbA';
const CREDENTIAL = { keyId: '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d', sharedSecret: SECRET };
const NOW_MS = 1_795_262_400_123;
const answerKeys = new AnswerKeys(new KeyRing(SECRETS_KEY));
const moment = { nowMs: NOW_MS, answerKeys, credential: CREDENTIAL };
const ANSWER = {
  status: 200,
  method: 'GET',
  target: '/api/staking/snapshots?walletAddress=0x52&lastDays=7',
  body: '{"success":true}',
};

interface Seen {
  readonly status: number;
  readonly method: string;
  readonly url: string;
}
const SEEN: Seen = { status: 200, method: 'GET', url: `https://api.example${ANSWER.target}` };

/** Verifies with another implementation of RFC 9421, which has only the public key or the secret. */
async function isVerified(headers: MessageSignatureHeaders, seen: Seen = SEEN): Promise<boolean> {
  const { status, method, url } = seen;
  const verified = await httpbis.verifyMessage(
    {
      all: true,
      notAfter: new Date(NOW_MS + 1000),
      keyLookup: ({ keyid }) => Promise.resolve(verifierOf(String(keyid))),
    },
    { status, headers: { ...headers } as Record<string, string> },
    { method, url, headers: {} },
  );
  return verified === true;
}

function verifierOf(keyId: string) {
  const published = answerKeys.published.find(({ kid }) => kid === keyId);
  const check =
    published === undefined
      ? (data: Buffer, given: Buffer) =>
          timingSafeEqual(createHmac('sha256', SECRET).update(data).digest(), given)
      : (data: Buffer, given: Buffer) => verify(null, data, publicKey(published), given);
  return {
    verify: (data: Buffer, given: Buffer) => Promise.resolve(check(data, given)),
  };
}

function publicKey({ kty, crv, x }: PublicAnswerKey) {
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

const signed = (accept: string, answer = ANSWER): MessageSignatureHeaders =>
  signAnswer(answer, parseAcceptSignature(accept), moment);

describe('signAnswer', () => {
  it.each(['sig=()', 'sig=();alg="ed25519"', 'sig=();alg="hmac-sha256"'])(
    'is verified by another implementation: %s',
    async (accept) => {
      expect(await isVerified(signed(accept))).toBe(true);
    },
  );

  it('makes both at once', async () => {
    const headers = signed('one=();alg="ed25519", two=();alg="hmac-sha256";nonce="n";tag="t"');
    expect(headers['signature-input']).toBe(
      `one=("@status" "@method";req "@path";req "@query";req "content-digest");created=1795262400;keyid="${answerKeys.keyId}";alg="ed25519", ` +
        `two=("@status" "@method";req "@path";req "@query";req "content-digest");created=1795262400;keyid="${CREDENTIAL.keyId}";alg="hmac-sha256";nonce="n";tag="t"`,
    );
    expect(headers['content-digest']).toMatch(/^sha-256=:[A-Za-z0-9+/]{43}=:$/);
    expect(await isVerified(headers)).toBe(true);
  });

  it.each<[string, Partial<Seen>]>([
    ['another wallet', { url: SEEN.url.replace('0x52', '0x53') }],
    ['another path', { url: SEEN.url.replace('snapshots', 'history') }],
    ['another method', { method: 'HEAD' }],
    ['another status', { status: 404 }],
  ])('is of no use for %s', async (_, change) => {
    expect(await isVerified(signed('sig=()'), { ...SEEN, ...change })).toBe(false);
    expect(await isVerified(signed('sig=();alg="hmac-sha256"'), { ...SEEN, ...change })).toBe(
      false,
    );
  });

  it('is of no use for another body, time or nonce', async () => {
    const headers = signed('sig=();nonce="mine"');
    const digest = signed('sig=()', { ...ANSWER, body: '{}' })['content-digest'];
    expect(await isVerified({ ...headers, 'content-digest': digest })).toBe(false);
    for (const [from, to] of [
      ['created=1795262400', 'created=1795262401'],
      ['"mine"', '"yours"'],
    ] as const) {
      const input = headers['signature-input'].replace(from, to);
      expect(input).not.toBe(headers['signature-input']);
      expect(await isVerified({ ...headers, 'signature-input': input })).toBe(false);
    }
  });

  it.each(['sig=()', 'sig=();alg="hmac-sha256"'])(
    'signs what stands for a list, which has no digest: %s',
    async (accept) => {
      const sealedDay = '{"chainId":1,"day":{"root":"0x12"}}';
      const { status, method, target } = ANSWER;
      const answer = { status, method, target, sealedDay };
      const headers = signAnswer(answer, parseAcceptSignature(accept), moment);
      expect(headers).not.toHaveProperty('content-digest');
      expect(headers['signature-input']).toContain('"@query";req "x-sealed-day")');
      const sent = { ...headers, 'x-sealed-day': sealedDay };
      expect(await isVerified(sent)).toBe(true);
      const other = { ...sent, 'x-sealed-day': sealedDay.replace('0x12', '0x13') };
      expect(await isVerified(other)).toBe(false);
    },
  );

  it('makes an HMAC for a credential only', () => {
    const wanted = parseAcceptSignature('sig=();alg="hmac-sha256"');
    expect(() => signAnswer(ANSWER, wanted, { nowMs: NOW_MS, answerKeys })).toThrow(
      AcceptSignatureError,
    );
  });

  it('takes the path out of a target in absolute form', async () => {
    const headers = signed('sig=()', { ...ANSWER, target: SEEN.url });
    expect(await isVerified(headers)).toBe(true);
  });

  it('signs whatever a request target may be', async () => {
    const text = fc.stringMatching(/^[aZ09._~!$&()*+,;=:@%/?-]*$/);
    await fc.assert(
      fc.asyncProperty(text, fc.string(), async (rest, body) => {
        const url = new URL(`https://api.example/${rest.replaceAll('%', '%25')}`);
        const target = url.pathname + url.search;
        const headers = signed('sig=()', { ...ANSWER, target, body });
        expect(await isVerified(headers, { ...SEEN, url: url.href })).toBe(true);
      }),
    );
  });
});

describe('the published vectors', () => {
  interface Vector {
    readonly name: string;
    readonly method: string;
    readonly target: string;
    readonly status: number;
    readonly body: string;
    readonly contentDigest: string;
    readonly signatureInput: string;
    readonly signature: string;
  }
  const published = JSON.parse(
    readFileSync('docs/wire/message-signature-vectors.json', 'utf8'),
  ) as {
    publicKey: PublicAnswerKey;
    secret: string;
    vectors: Vector[];
    lists: (Vector & { sealedDay: string })[];
  };

  it.each(published.lists)('$name', (vector) => {
    const { method, target, status, sealedDay } = vector;
    const accept = vector.signatureInput
      .replace('"x-sealed-day"', '')
      .replace(/created=\d+;keyid="[^"]+";/, '');
    const wanted = parseAcceptSignature(accept);
    expect(signAnswer({ method, target, status, sealedDay }, wanted, moment)).toEqual({
      'signature-input': vector.signatureInput,
      signature: vector.signature,
    });
  });

  it('are of this key and this secret', () => {
    const [publicKey] = new AnswerKeys(new KeyRing(SECRETS_KEY)).published;
    expect(published.publicKey).toEqual(publicKey);
    expect(published.secret).toBe(SECRET);
  });

  it.each(published.vectors)('$name', async (vector) => {
    const { method, target, status, body } = vector;
    // The requested parameters are those of the signature without `created` and `keyid`.
    const accept = vector.signatureInput.replace(/created=\d+;keyid="[^"]+";/, '');
    const headers = signed(accept, { method, target, status, body });
    expect(headers).toEqual({
      'content-digest': vector.contentDigest,
      'signature-input': vector.signatureInput,
      signature: vector.signature,
    });
    const url = `https://api.example${target}`;
    expect(await isVerified(headers, { method, status, url })).toBe(true);
  });
});

describe('parseAcceptSignature', () => {
  it('takes the components that are covered anyway, and parameters that say nothing here', () => {
    expect(
      parseAcceptSignature('sig1=("@status" "@query";req);created;keyid="x";tag="lowmark"'),
    ).toStrictEqual([{ label: 'sig1', algorithm: 'ed25519', tag: 'lowmark' }]);
  });

  it('takes a nonce of 200 characters', () => {
    const nonce = 'n'.repeat(200);
    expect(parseAcceptSignature(`sig=();nonce="${nonce}"`)).toStrictEqual([
      { label: 'sig', algorithm: 'ed25519', nonce },
    ]);
  });

  it.each(['content-digest', 'x-sealed-day'])('takes %s, of which an answer has one', (name) => {
    expect(parseAcceptSignature(`sig=("@status" "${name}")`)).toHaveLength(1);
  });

  it.each([
    ['nothing', ''],
    ['no list', 'sig="text"'],
    ['three', 'a=(), b=(), c=()'],
    ['a component of the answer that is not covered', 'sig=("date")'],
    ['a component of the request that is not covered', 'sig=("@authority";req)'],
    ['the method of an answer', 'sig=("@method")'],
    ['another algorithm', 'sig=();alg="rsa-pss-sha512"'],
    ['an algorithm that is no text', 'sig=();alg=1'],
    ['an empty nonce', 'sig=();nonce=""'],
    ['a long nonce', `sig=();nonce="${'n'.repeat(201)}"`],
    ['a nonce of bytes', 'sig=();nonce=:bm9uY2U=:'],
    ['no structured field', 'sig=(((('],
    ['characters beyond ASCII', 'sig=();nonce="é"'],
    ['a line break', 'sig=();nonce="a\nb"'],
  ])('refuses %s', (_, header) => {
    expect(() => parseAcceptSignature(header)).toThrow(AcceptSignatureError);
  });

  it('refuses any text that it does not take, and nothing else fails', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        try {
          parseAcceptSignature(header);
        } catch (error) {
          expect(error).toBeInstanceOf(AcceptSignatureError);
        }
      }),
    );
  });
});

describe('AnswerKeys', () => {
  it('are the same wherever the key is the same, and others where it is another', () => {
    expect(new AnswerKeys(new KeyRing(SECRETS_KEY)).published).toEqual(answerKeys.published);
    expect(new AnswerKeys(new KeyRing(Buffer.alloc(32, 8))).keyId).not.toBe(answerKeys.keyId);
  });

  it('keep what signed before published', () => {
    const rotated = new AnswerKeys(new KeyRing(Buffer.alloc(32, 8), SECRETS_KEY));
    expect(rotated.published.map(({ kid }) => kid)).toEqual([rotated.keyId, answerKeys.keyId]);
  });

  it('are the public keys alone', () => {
    expect(Object.keys(answerKeys.published[0]).sort()).toEqual(['crv', 'kid', 'kty', 'use', 'x']);
  });
});
