import { createHmac, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpbis } from 'http-message-signatures';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const DIRECTORY = '/.well-known/http-message-signatures-directory';
const ED25519 = 'sig=();alg="ed25519";nonce="a nonce"';
const HMAC = 'sig=();alg="hmac-sha256"';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

let api: Api;
let partner: MintedCredential;
let slow: MintedCredential;

beforeAll(async () => {
  api = await startApi();
  partner = await addPartner(api, 'message signatures');
  slow = await addPartner(api, 'slow', { rate: 1, burst: 1 });
  await seedIndex(api, {
    events: [['2026-11-10T12:00:00Z', aWallet(1), 5]],
    headAt: '2026-11-21T12:00:00Z',
  });
});
afterAll(() => api.stop());

async function ask(
  target: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Answer> {
  const response = await fetch(api.url + target, { method, headers });
  const { status } = response;
  return { status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/**
 * Verifies an answer as a third party can: with the published keys and another implementation; hmac-sha256 with the
 * partner's secret.
 */
async function isVerified(
  { status, headers, body }: Answer,
  target: string,
  method = 'GET',
): Promise<boolean> {
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(body));
  expect(headers['content-digest']).toBe(`sha-256=:${Buffer.from(digest).toString('base64')}:`);
  const verified = await httpbis.verifyMessage(
    {
      all: true,
      notAfter: new Date(api.clock.nowMs() + 1000),
      requiredFields: ['@status', '@method', '@path', '@query', 'content-digest'],
      requiredParams: ['created', 'keyid', 'alg'],
      keyLookup: async ({ alg, keyid }) => ({
        verify: alg === 'ed25519' ? await byPublished(String(keyid)) : bySecret,
      }),
    },
    { status, headers },
    { method, url: api.url + target, headers: {} },
  );
  return verified === true;
}

async function byPublished(keyId: string) {
  const { body } = await ask(DIRECTORY, {});
  const { keys } = JSON.parse(body) as { keys: { kid: string; x: string }[] };
  const found = keys.find(({ kid }) => kid === keyId);
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: found?.x ?? '' },
    format: 'jwk',
  });
  return (data: Buffer, given: Buffer) => Promise.resolve(verify(null, data, key, given));
}

const bySecret = (data: Buffer, given: Buffer): Promise<boolean> =>
  Promise.resolve(createHmac('sha256', partner.sharedSecret).update(data).digest().equals(given));

describe('an answer that is asked for with Accept-Signature', () => {
  const target = `${PATH}?walletAddress=${aWallet(1)}&lastDays=3`;

  it.each([ED25519, HMAC, `one=();alg="ed25519", two=();alg="hmac-sha256"`])(
    'is verified by another implementation, and as before: %s',
    async (accept) => {
      const headers = { 'x-api-key': partner.apiKey, 'accept-signature': accept };
      const answer = await ask(target, headers);
      expect(answer.status).toBe(200);
      expect(await isVerified(answer, target)).toBe(true);
      expectSigned(answer, { method: 'GET', path: PATH, secret: partner.sharedSecret });
    },
  );

  it('is of no use for another wallet or number of days, and has nonce and time', async () => {
    const headers = { 'x-api-key': partner.apiKey, 'accept-signature': ED25519 };
    const answer = await ask(target, headers);
    expect(await isVerified(answer, target.replace('lastDays=3', 'lastDays=4'))).toBe(false);
    expect(await isVerified(answer, target.replace(aWallet(1), aWallet(2)))).toBe(false);
    const { 'signature-input': input } = answer.headers;
    expect(input).toContain(';nonce="a nonce"');
    expect(input).toContain(`;created=${Math.floor(api.clock.nowMs() / 1000)};`);
  });

  it.each([
    ['HEAD', 'HEAD', target, 200],
    ['an unknown wallet', 'GET', `${PATH}?walletAddress=${aWallet(99)}`, 404],
    ['an unknown route', 'GET', '/nowhere?x=1', 404],
    ['a bad request', 'GET', `${PATH}?walletAddress=0x`, 400],
  ])('is signed as asked whatever it is: %s', async (_, method, asked, status) => {
    const headers = { 'x-api-key': partner.apiKey, 'accept-signature': ED25519 };
    const answer = await ask(asked, headers, method);
    expect(answer.status).toBe(status);
    expect(await isVerified(answer, asked, method)).toBe(true);
  });

  it('is signed as asked beyond the limit', async () => {
    const headers = { 'x-api-key': slow.apiKey, 'accept-signature': ED25519 };
    await ask(target, headers);
    const answer = await ask(target, headers);
    expect(answer.status).toBe(429);
    expect(await isVerified(answer, target)).toBe(true);
  });

  it('has no signature with a secret where the caller has none', async () => {
    const answer = await ask(target, { 'accept-signature': HMAC });
    expect(answer.status).toBe(401);
    expect(answer.headers['signature']).toBeUndefined();
    const both = await ask(target, { 'accept-signature': `a=();alg="ed25519", ${HMAC}` });
    expect(both.headers['signature-input']).toMatch(/^a=\([^,]*;alg="ed25519"$/);
    expect(await isVerified(both, target)).toBe(true);
  });

  it.each([
    ['is no structured field', '((('],
    ['asks for a component that is not covered', 'sig=("date")'],
    ['is too long', `sig=();nonce="${'n'.repeat(2000)}"`],
  ])('is refused where the header %s', async (_, accept) => {
    const answer = await ask(target, {
      'x-api-key': partner.apiKey,
      'accept-signature': accept,
    });
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain('Accept-Signature');
    expectSigned(answer, { method: 'GET', path: PATH, secret: partner.sharedSecret });
  });
});

describe(DIRECTORY, () => {
  it('is for anyone, and holds no secret', async () => {
    const answer = await ask(DIRECTORY, {});
    expect(answer.status).toBe(200);
    const { keys } = JSON.parse(answer.body) as { keys: object[] };
    expect(keys).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        use: 'sig',
        kid: expect.stringMatching(/^[\w-]{43}$/),
        x: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]);
    expectSigned(answer, { method: 'GET', path: DIRECTORY, secret: ANON_SECRET });
  });
});
