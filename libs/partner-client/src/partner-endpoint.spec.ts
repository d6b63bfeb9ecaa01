import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PARTNER_STEPS, type UuidV7 } from '#libs/domain';
import {
  type ParsedPartnerUrl,
  parsePartnerUrl,
  type PartnerCall,
  ROUTES,
  signedRequest,
} from './partner-endpoint.js';
import { anEndpoint, CONFIRM, DEDUCT, WALLET } from './testing/partner-bench.support.js';
import { API_KEY } from './testing/rogue-partner.support.js';
import { type PartnerUrl } from './wire/dial.js';

const parse = (text: string, allowPrivate = false): ParsedPartnerUrl =>
  parsePartnerUrl(text, { allowPrivate });

describe('parsePartnerUrl', () => {
  it.each([
    ['https://partner.example', 'partner.example', 443, ''],
    ['https://partner.example/', 'partner.example', 443, ''],
    ['https://partner.example:8443/game/v1/', 'partner.example', 8443, '/game/v1'],
    ['https://8.8.8.8/a%2Fb', '8.8.8.8', 443, '/a%2Fb'],
    ['https://[2606:4700::1111]:444/x', '2606:4700::1111', 444, '/x'],
    ['https://PARTNER.example/A', 'partner.example', 443, '/A'],
  ])('reads %s', (text, host, port, basePath) => {
    const url = { isTls: true, host, port, basePath, origin: new URL(text).origin };
    expect(parse(text)).toEqual({ ok: true, url });
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '127.0.0.1%2e',
    '%31%32%37.0.0.1',
    '①②⑦.⓪.⓪.①',
    '１２７.０.０.１',
    '127。0。0。1',
    '0.0.0.0',
    '169.254.169.254',
    '0xa9fea9fe',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:7f00:1]',
    '[::ffff:a9fe:a9fe]',
  ])('refuses the literal %s', (host) => {
    for (const rest of ['', ':8443', ':8443/x']) {
      expect(parse(`https://${host}${rest}`)).toMatchObject({
        ok: false,
        fault: 'blocked-address',
      });
    }
  });

  it.each([
    ['', 'is not a URL'],
    ['partner.example', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https://256.1.1.1', 'is not a URL'],
    ['https://[fe80::1%25eth0]', 'is not a URL'],
    ['https://1.2.3.4.5', 'is not a URL'],
    [`https://x.example/${'a'.repeat(2000)}`, 'is not a URL'],
    ['http://partner.example', 'does not begin with https://'],
    ['ftp://partner.example', 'does not begin with https://'],
    ['file:///etc/passwd', 'does not begin with https://'],
    ['https://user:a-password@partner.example', 'holds a user or a password'],
    ['https://a-user@partner.example', 'holds a user or a password'],
    ['https://partner.example?token=x', 'holds a query or a fragment'],
    ['https://partner.example/?', 'holds a query or a fragment'],
    ['https://partner.example/#', 'holds a query or a fragment'],
    ['https://partner.example:0', 'names port 0'],
  ])('refuses %s', (text, what) => {
    expect(parse(text)).toEqual({
      ok: false,
      fault: 'invalid-url',
      message: `The partner's URL ${what}.`,
    });
  });

  it('takes http, loopback and private ranges in development, and nothing more', () => {
    for (const host of ['127.0.0.1', '10.1.2.3', '[::1]', 'partner.example']) {
      expect(parse(`http://${host}:3003/v1`, true)).toMatchObject({ ok: true });
    }
    for (const host of ['169.254.169.254', '0.0.0.0', '[::ffff:127.0.0.1]']) {
      expect(parse(`http://${host}`, true)).toMatchObject({ fault: 'blocked-address' });
    }
    expect(parse('ftp://127.0.0.1', true)).toMatchObject({ fault: 'invalid-url' });
  });
});

interface Vector {
  name: string;
  direction: string;
  secret: string;
  method: string;
  path: string;
  xApiRequest: UuidV7;
  body: string;
  signature: string;
}

const { vectors } = JSON.parse(readFileSync('docs/wire/signature-vectors.json', 'utf8')) as {
  vectors: Vector[];
};

function urlOf(text: string): PartnerUrl {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.url;
}

describe('the published vectors of our calls', () => {
  const ours = vectors.filter(({ direction }) => direction === 'service to partner');

  it.each(ours.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const step = PARTNER_STEPS.find((one) => vector.path.endsWith(ROUTES[one].path));
    if (step === undefined) throw new Error('a vector of no call');
    const body: unknown = vector.body === '' ? undefined : reversed(JSON.parse(vector.body));
    const call = (step === 'balance' ? { step, address: WALLET } : { step, body }) as PartnerCall;
    const basePath = vector.path.slice(0, -ROUTES[step].path.length);
    const endpoint = anEndpoint({ sharedSecret: vector.secret });
    const url = urlOf(`https://partner.example${basePath}`);
    const request = signedRequest(call, vector.xApiRequest, { endpoint, url });
    expect(request.identity).toEqual({
      method: vector.method,
      path: vector.path,
      requestId: vector.xApiRequest,
    });
    expect(request.body).toBe(vector.body);
    expect(request.headers['X-API-SIGNATURE']).toBe(vector.signature);
  });
});

/** The same object with its members in reverse order. */
function reversed(value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as object).reverse());
}

describe('signedRequest', () => {
  const requestId = '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d' as UuidV7;
  const at = { endpoint: anEndpoint(), url: urlOf('https://partner.example') };

  it('has the headers of the interface', () => {
    expect(signedRequest(DEDUCT, requestId, at).headers).toEqual({
      'X-API-KEY': API_KEY,
      'X-API-REQUEST': requestId,
      'X-API-SIGNATURE': expect.stringMatching(/^[0-9a-f]{64}$/),
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    });
  });

  it('refuses a body that JSON cannot say', () => {
    const call = { ...CONFIRM, body: { usdAmount: NaN } } as unknown as PartnerCall;
    expect(() => signedRequest(call, requestId, at)).toThrow(
      expect.objectContaining({ code: 'NOT_JSON' }),
    );
  });
});
