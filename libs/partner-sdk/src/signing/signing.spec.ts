import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, pathOf, sign, signedContent, verify, verifyJson } from './signing.js';

interface Vector {
  name: string;
  direction: string;
  secret: string;
  method: string;
  path: string;
  xApiRequest?: string;
  body: string;
  signedContent: string;
  signature: string;
}
const { vectors } = JSON.parse(readFileSync('docs/wire/signature-vectors.json', 'utf8')) as {
  vectors: Vector[];
};

describe('the published vectors', () => {
  it.each(vectors.map((vector) => [`${vector.direction}: ${vector.name}`, vector] as const))(
    '%s',
    (_, { secret, method, path, xApiRequest, body, signature, ...vector }) => {
      const message = { method, url: `https://a.example${path}?x=1`, requestId: xApiRequest, body };
      expect(signedContent(message).toString()).toBe(vector.signedContent);
      expect(sign(secret, message)).toBe(signature);
      expect(verify(secret, message, signature)).toBe(true);
      expect(verify(`${secret}x`, message, signature)).toBe(false);
      if (body !== '') expect(canonicalJson(JSON.parse(body))).toBe(body);
    },
  );

  it('are of all three kinds', () => {
    expect([...new Set(vectors.map(({ direction }) => direction))].sort()).toEqual([
      'partner to service',
      'service to partner',
      'staking API to partner',
    ]);
  });
});

describe('a signature', () => {
  const message = { method: 'POST', url: '/x', requestId: 'id', body: Buffer.from('{"a":1}') };
  const good = sign('secret', message);

  it.each([
    [undefined],
    [''],
    [good.toUpperCase()],
    [good.slice(1)],
    [`${good}0`],
    [` ${good}`],
    [`${good}\n`],
    [[good]],
    ['z'.repeat(64)],
  ])('%j is refused', (given) => {
    expect(verify('secret', message, given)).toBe(false);
  });

  it('is compared in every digit', () => {
    for (let place = 0; place < good.length; place += 1) {
      const digit = good[place] === '0' ? '1' : '0';
      const wrong = good.slice(0, place) + digit + good.slice(place + 1);
      expect(verify('secret', message, wrong)).toBe(false);
    }
  });

  it('is over the canonical form where the bytes were printed again, whatever the JSON and the print', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1, 4, '\t'), (value, space) => {
        const body = Buffer.from(canonicalJson(value));
        const signature = sign('secret', { ...message, body });
        const printed = Buffer.from(JSON.stringify(value, undefined, space));
        expect(verifyJson('secret', { ...message, body: printed }, signature)).toBe(true);
        const changed = Buffer.from(JSON.stringify({ ...value, ['\u0001more']: 1 }));
        expect(verifyJson('secret', { ...message, body: changed }, signature)).toBe(false);
      }),
    );
  });

  it.each([
    ['a field twice', '{"a":2,"a":1}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['not JSON', '{"a":1'],
    ['more than any stack bears', '['.repeat(100_000)],
  ])('is not over what has no canonical form: %s', (_, body) => {
    expect(verifyJson('secret', { ...message, body: Buffer.from(body) }, good)).toBe(false);
  });
});

describe('canonicalJson', () => {
  it.each([[NaN], [Infinity], [undefined], [1n], ['\ud800'], [{ a: [NaN] }], [() => 1]])(
    'refuses %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(/^The value has no JSON form\.$/);
    },
  );
});

describe('pathOf', () => {
  it.each([
    ['/api/x?walletAddress=0x1', '/api/x'],
    ['/a%2Fb/../c//d/?x=/y?z', '/a%2Fb/../c//d/'],
    ['https://partner.example/game/v1/x?y=1#z', '/game/v1/x'],
    ['https://partner.example?x=1', '/'],
    ['/redirect?to=https://a.example/b', '/redirect'],
    ['//double/slash', '//double/slash'],
    ['*', '*'],
    ['/%zz', '/%zz'],
  ])('of %p is %p', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});
