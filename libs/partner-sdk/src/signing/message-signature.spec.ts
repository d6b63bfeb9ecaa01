import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ReceivedAnswer, verifyMessage } from './message-signature.js';

interface Vector {
  readonly name: string;
  readonly algorithm: string;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly body: string;
  readonly contentDigest: string;
  readonly signatureInput: string;
  readonly signature: string;
}

const { publicKey, secret, vectors } = JSON.parse(
  readFileSync('docs/wire/message-signature-vectors.json', 'utf8'),
) as { publicKey: { kid: string; x: string }; secret: string; vectors: Vector[] };
const keys = { publicKeys: { [publicKey.kid]: publicKey.x }, sharedSecret: secret };
const CREATED = 1_795_262_400;

function received(vector: Vector, headers: Record<string, string> = {}): ReceivedAnswer {
  return {
    method: vector.method,
    url: `https://api.example${vector.target}`,
    status: vector.status,
    body: Buffer.from(vector.body),
    headers: new Headers({
      'content-digest': vector.contentDigest,
      'signature-input': vector.signatureInput,
      signature: vector.signature,
      ...headers,
    }),
  };
}

describe.each(vectors)('$name', (vector) => {
  const answer = received(vector);

  it('verifies, by the URL and by its path', () => {
    expect(verifyMessage(answer, keys)).toBe(true);
    expect(verifyMessage({ ...answer, url: `${vector.target}#fragment` }, keys)).toBe(true);
  });

  it.each<[string, Partial<ReceivedAnswer>]>([
    ['another query', { url: `${answer.url}1` }],
    ['another status', { status: 201 }],
    ['another method', { method: 'POST' }],
    ['another body', { body: Buffer.from(`${vector.body} `) }],
  ])('does not verify for %s', (_, change) => {
    expect(verifyMessage({ ...answer, ...change }, keys)).toBe(false);
  });

  it('does not verify without its key', () => {
    expect(verifyMessage(answer, {})).toBe(false);
    const others = { publicKeys: { other: publicKey.x }, sharedSecret: `${secret} ` };
    expect(verifyMessage(answer, others)).toBe(false);
  });

  it('does not verify if any byte of the signature is another', () => {
    const [, name = '', base64 = ''] = /^(.*?)=:(.*):$/.exec(vector.signature) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    expect(bytes.length).toBeGreaterThanOrEqual(32);
    for (let place = 0; place < bytes.length; place += 1) {
      const wrong = Buffer.from(bytes);
      wrong.writeUInt8(wrong.readUInt8(place) ^ 1, place);
      const signature = `${name}=:${wrong.toString('base64')}:`;
      expect(verifyMessage(received(vector, { signature }), keys)).toBe(false);
    }
  });

  it('has an age', () => {
    expect(verifyMessage(answer, keys, { nowSeconds: CREATED + 300 })).toBe(true);
    expect(verifyMessage(answer, keys, { nowSeconds: CREATED + 301 })).toBe(false);
    expect(verifyMessage(answer, keys, { nowSeconds: CREATED - 301 })).toBe(false);
    const tight = { nowSeconds: CREATED + 6, toleranceSeconds: 5 };
    expect(verifyMessage(answer, keys, tight)).toBe(false);
  });

  it.each(['content-digest', 'signature-input', 'signature'])('takes %s', (name) => {
    expect(verifyMessage(received(vector, { [name]: '' }), keys)).toBe(false);
  });
});

describe('verifyMessage', () => {
  const [vector] = vectors as [Vector];

  it('wants the nonce that was sent', () => {
    expect(verifyMessage(received(vector), keys, { nonce: '7f3c9a' })).toBe(true);
    expect(verifyMessage(received(vector), keys, { nonce: 'another' })).toBe(false);
  });

  it('finds its signature among others', () => {
    const both = received(vector, {
      'signature-input': `a=("date");nonce="x, sig=()", ${vector.signatureInput}`,
      signature: `a=:AAAA:, ${vector.signature}`,
    });
    expect(verifyMessage(both, keys)).toBe(true);
    expect(verifyMessage(both, keys, { label: 'a' })).toBe(false);
  });

  it('does not take a signature that covers less', () => {
    const less = vector.signatureInput.replace('"@query";req ', '');
    expect(verifyMessage(received(vector, { 'signature-input': less }), keys)).toBe(false);
  });

  it.each(['', 'short', `${publicKey.x}AAAA`, { kty: 'OKP' }])(
    'says that a public key such as %j is none',
    (x) => {
      const publicKeys = { [publicKey.kid]: x as string };
      expect(() => verifyMessage(received(vector), { publicKeys })).toThrow('publicKeys must be');
      expect(
        verifyMessage(received(vector), { publicKeys: { ...keys.publicKeys, other: x as string } }),
      ).toBe(true);
    },
  );

  it.each(['constructor', '__proto__', 'toString'])('knows no key %s', (kid) => {
    const input = vector.signatureInput.replace(publicKey.kid, kid);
    expect(verifyMessage(received(vector, { 'signature-input': input }), keys)).toBe(false);
  });

  it('fails at nothing', () => {
    const text = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(text, text, (input, signature) => {
        const headers = { 'signature-input': input, signature };
        expect(verifyMessage(received(vector, headers), keys)).toBe(false);
      }),
    );
  });
});
