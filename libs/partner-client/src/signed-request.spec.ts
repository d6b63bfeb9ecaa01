import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PARTNER_STEPS, type UuidV7 } from '#libs/domain';
import { type PartnerUrl } from './wire/dial.js';
import { parsePartnerUrl, type PartnerCall, ROUTES, signedRequest } from './partner-endpoint.js';
import { anEndpoint, CONFIRM, DEDUCT, WALLET } from './testing/partner-bench.support.js';
import { API_KEY } from './testing/rogue-partner.support.js';

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
  const parsed = parsePartnerUrl(text, { allowPrivate: false });
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.url;
}

describe('the published vectors of our calls', () => {
  const ours = vectors.filter(({ direction }) => direction === 'service to partner');

  it('are there', () => {
    expect(ours.length).toBeGreaterThanOrEqual(4);
  });

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
