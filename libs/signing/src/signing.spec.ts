import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '#libs/domain';
import {
  hashApiKey,
  hashToken,
  isApiKey,
  hmacSha256Hex,
  KeyRing,
  mintCredential,
  mintSecretsKey,
  mintWebhookSecret,
  newToken,
  pathOf,
  sealingKeyId,
  signedContent,
  verifySignature,
  webhookSealContext,
} from './index.js';

interface Vector {
  name: string;
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

describe('the published signature vectors', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    const { method, path, body, secret, signature } = vector;
    const requestId = vector.xApiRequest === undefined ? {} : { requestId: vector.xApiRequest };
    const content = signedContent({ method, path, body, ...requestId });
    expect(content).toBe(vector.signedContent);
    expect(hmacSha256Hex(secret, content)).toBe(signature);
    expect(verifySignature(secret, content, signature)).toBe(true);
    expect(body === '' ? '' : canonicalJson(JSON.parse(body))).toBe(body);
  });
});

describe('verifySignature', () => {
  const content = 'GET/p{}';
  const signature = hmacSha256Hex('secret', content);

  it.each([
    ['none', undefined],
    ['empty', ''],
    ['short', signature.slice(0, 63)],
    ['long', `${signature}0`],
    ['upper case', signature.toUpperCase()],
    ['with a line end', `${signature}\n`],
    ['not hex', 'g'.repeat(64)],
    ['beyond ASCII', 'é'.repeat(64)],
    ['of another secret', hmacSha256Hex('other', content)],
  ])('refuses a signature that is %s', (_, candidate) => {
    expect(verifySignature('secret', content, candidate)).toBe(false);
  });

  it('compares every digit', () => {
    for (let place = 0; place < signature.length; place += 1) {
      const digit = signature[place] === '0' ? '1' : '0';
      const wrong = signature.slice(0, place) + digit + signature.slice(place + 1);
      expect(verifySignature('secret', content, wrong)).toBe(false);
    }
  });

  it('takes the key and the content as UTF-8 bytes', () => {
    const signed = hmacSha256Hex('schlüssel', 'inhält');
    expect(verifySignature('schlüssel', Buffer.from('inhält', 'utf8'), signed)).toBe(true);
  });
});

describe('mintCredential', () => {
  it('makes keys and secrets of 256 random bits', () => {
    const [one, two] = [mintCredential(), mintCredential()];
    expect(one.apiKey).toMatch(/^svck_[A-Za-z0-9_-]{43}$/);
    expect(one.sharedSecret).toMatch(/^svcs_[A-Za-z0-9_-]{43}$/);
    expect(new Set([one.apiKey, two.apiKey, one.sharedSecret, two.sharedSecret]).size).toBe(4);
    expect(hashApiKey(one.apiKey)).toHaveLength(32);
    expect(isApiKey(one.apiKey)).toBe(true);
    expect(
      ['', one.sharedSecret, `${one.apiKey}\n`, `${one.apiKey}, ${two.apiKey}`].some(isApiKey),
    ).toBe(false);
  });
});

describe('KeyRing', () => {
  const context = hashApiKey('svck_x');
  const ring = KeyRing.parse(mintSecretsKey().toString('base64'));

  it('opens what it sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (secret) => {
        const text = Buffer.from(secret, 'utf8').toString('utf8');
        expect(ring.open(ring.seal(text, context), context)).toBe(text);
      }),
    );
  });

  it('never seals the same text twice into the same bytes', () => {
    expect(ring.seal('s', context).equals(ring.seal('s', context))).toBe(false);
  });

  it('refuses any changed byte, any cut and another context', () => {
    const sealed = ring.seal('svcs_secret', context);
    const invalid = expect.objectContaining({ code: 'SEALED_SECRET_INVALID' });
    for (let i = 0; i < sealed.length; i++) {
      const damaged = Buffer.from(sealed);
      damaged[i] = (damaged[i] ?? 0) ^ 1;
      const code = i >= 1 && i <= 4 ? 'SECRETS_KEY_MISSING' : 'SEALED_SECRET_INVALID';
      expect(() => ring.open(damaged, context)).toThrow(expect.objectContaining({ code }));
      expect(() => ring.open(sealed.subarray(0, i), context)).toThrow(invalid);
    }
    expect(() => ring.open(Buffer.alloc(sealed.length, 2), context)).toThrow(invalid);
    expect(() => ring.open(sealed, hashApiKey('svck_y'))).toThrow(
      expect.objectContaining({ code: 'SEALED_SECRET_INVALID', cause: expect.anything() }),
    );
  });

  it('lets a key be replaced: the first seals, the others still open', () => {
    const [older, newer] = [mintSecretsKey(), mintSecretsKey()];
    const sealed = new KeyRing(older).seal('s', context);
    const both = new KeyRing(newer, older);
    expect(both.open(sealed, context)).toBe('s');
    expect(both.keyIds).toEqual([newer, older].map((key) => new KeyRing(key).keyIds[0]));
    expect(sealingKeyId(sealed)).toBe(both.keyIds[1]);
    expect(() => new KeyRing(newer).open(sealed, context)).toThrow(
      expect.objectContaining({ code: 'SECRETS_KEY_MISSING' }),
    );
    expect(() => new KeyRing(older).open(both.seal('s', context), context)).toThrow();
  });

  it.each([0, 16, 31, 33])('refuses a key of %s bytes', (length) => {
    expect(() => new KeyRing(Buffer.alloc(length))).toThrow(
      expect.objectContaining({ code: 'SECRETS_KEY_INVALID' }),
    );
  });
  it.each([
    '',
    'short',
    `${'A'.repeat(43)}=,`,
    `${'A'.repeat(43)}*`,
    ' '.repeat(44),
    'é'.repeat(44),
  ])('refuses the text %p without showing it', (text) => {
    expect(() => KeyRing.parse(text)).toThrow(
      expect.objectContaining({
        code: 'SECRETS_KEY_INVALID',
        message:
          'SECRETS_KEY must be 32 bytes in base64, for example from: openssl rand -base64 32',
      }),
    );
  });

  it('reads several keys from one text', () => {
    const keys = [mintSecretsKey(), mintSecretsKey()] as const;
    const sealed = new KeyRing(keys[1]).seal('s', context);
    const text = keys.map((key) => key.toString('base64')).join(', ');
    expect(KeyRing.parse(text).open(sealed, context)).toBe('s');
  });
});

describe('sealingKeyId', () => {
  it.each([
    ['01aabbccdd', 'aabbccdd'],
    ['01aabbccddee', 'aabbccdd'],
    ['01aabbcc', undefined],
    ['02aabbccdd', undefined],
    ['', undefined],
  ])('of %p is %p', (hex, id) => {
    expect(sealingKeyId(Buffer.from(hex, 'hex'))).toBe(id);
  });
});

describe('a token', () => {
  const { token, tokenHash } = newToken();

  it('is a text of 256 bits, of which the hash is stored', () => {
    expect(token).toMatch(/^svct_[A-Za-z0-9_-]{43}$/);
    expect(tokenHash).toEqual(createHash('sha256').update(token).digest());
    expect(hashToken(token)).toEqual(tokenHash);
  });

  it.each([undefined, '', token.slice(1), `x${token}`, `${token}x`, token.replace('svct', 'svck')])(
    'is not %p',
    (text) => {
      expect(hashToken(text)).toBeUndefined();
    },
  );
});

describe('the secret of a webhook', () => {
  it('has the form of Standard Webhooks', () => {
    expect(mintWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it('opens for its own subscription only', () => {
    const [one, other] = ['1', '2'].map(webhookSealContext);
    expect(one).not.toEqual(other);
  });
});

describe('pathOf', () => {
  it.each([
    ['/api/staking/snapshots?walletAddress=0x1', '/api/staking/snapshots'],
    ['/api/staking/snapshots', '/api/staking/snapshots'],
    ['/a%2Fb/../c//d/?x=/y?z', '/a%2Fb/../c//d/'],
    ['https://partner.example/game/v1/x?y=1#z', '/game/v1/x'],
    ['https://partner.example', '/'],
    ['https://partner.example?x=1', '/'],
    ['/redirect?to=https://a.example/b', '/redirect'],
    ['//double/slash', '//double/slash'],
    ['*', '*'],
    ['/%zz', '/%zz'],
    ['', ''],
  ])('of %p is %p', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});

describe('signedContent', () => {
  it('joins without separators and leaves the request id out where there is none', () => {
    expect(signedContent({ method: 'GET', path: '/p', requestId: 'id', body: '{}' })).toBe(
      'GET/pid{}',
    );
    expect(signedContent({ method: 'HEAD', path: '/p', body: '' })).toBe('HEAD/p');
  });
});
