import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { type FastifyRequest } from 'fastify';
import { MemoryRateLimiter } from '#libs/cache';
import { type CredentialId, type PartnerId, PermanentError } from '#libs/domain';
import { KeyRing, mintCredential } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { type ApiSettings } from '../api.env.js';
import { Admissions, anonymousSecret, ApiKeyGuard, requireCaller } from './admission.js';
import { type Caller, CredentialCache, type PartnerKeys } from './credential-cache.js';
import { type LastUse } from './last-use.js';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const ANON_SECRET = anonymousSecret(SECRETS_KEY);
const { apiKey } = mintCredential();
const CALLER: Caller = {
  ...{ partnerId: 'p' as PartnerId, credentialId: 'c' as CredentialId, stakeSet: 'default' },
  ...{ sharedSecret: 's', rate: 2, burst: 50 },
};
const ANONYMOUS_BURST = 100;

function setUp() {
  const keys = { asked: 0, find: (): Promise<Caller | undefined> => Promise.resolve(CALLER) };
  const load = () => {
    keys.asked++;
    return keys.find();
  };
  const clock = new FakeClock(1_000_000);
  const noted: string[] = [];
  const admissions = new Admissions(
    new CredentialCache({ load } as unknown as PartnerKeys, clock),
    { note: (id: string) => noted.push(id) } as unknown as LastUse,
    { secretsKey: SECRETS_KEY } as ApiSettings,
    new MemoryRateLimiter(clock),
  );
  return { admissions, clock, keys, noted };
}

function aRequest(headers: object = {}, raw: { readonly url?: string } = { url: '/x' }) {
  return { headers, ip: '192.0.2.1', raw, admission: null } as unknown as FastifyRequest;
}
const withKey = (headers: Record<string, string> = {}) =>
  aRequest({ 'x-api-key': apiKey, ...headers });

describe('a request without a valid key', () => {
  it.each([{}, { 'x-api-key': 'guessed' }, { 'x-api-key': '' }, { 'x-api-key': [apiKey] }])(
    'counts for its address: %j',
    async (headers) => {
      const { admissions, keys } = setUp();
      for (let left = ANONYMOUS_BURST - 1; left >= 0; left--) {
        expect(await admissions.admit(aRequest(headers))).toMatchObject({
          ...{ secret: ANON_SECRET, counted: 1 },
          verdict: { allowed: true, limit: ANONYMOUS_BURST, remaining: left },
        });
      }
      const refused = await admissions.admit(aRequest(headers));
      expect(refused.refusal).toMatchObject({ status: 429 });
      expect(refused.secret).toBe(ANON_SECRET);
      expect(admissions.refused).toEqual({ partner: 0, address: 1 });
      expect(keys.asked).toBe(0);
      const other = { ...aRequest(headers), ip: '192.0.2.2' } as FastifyRequest;
      expect((await admissions.admit(other)).refusal).toBeUndefined();
    },
  );

  it.each([
    ['/health/live', 0],
    ['/health/ready?x', 0],
    ['/health/accepting', 0],
    ['/metrics', 0],
    ['/x/health/live', 1],
    ['/health/live/x', 1],
    ['/metricsx', 1],
    [undefined, 1],
  ])('for %s counts as %s', async (url, counted) => {
    const admission = await setUp().admissions.admit(
      aRequest({}, url === undefined ? {} : { url }),
    );
    const verdict = { allowed: true, limit: 100, remaining: 100 - counted, retryAfterSeconds: 0 };
    expect(admission).toMatchObject({ counted, secret: ANON_SECRET, verdict });
    if (counted === 0) expect(admission.verdict.resetSeconds).toBe(0);
  });

  it('passes no guard of a route', async () => {
    const { admissions } = setUp();
    const passes = (request: FastifyRequest): boolean =>
      new ApiKeyGuard().canActivate(new ExecutionContextHost([request]));
    const [request, known] = [aRequest(), withKey()];
    expect(() => passes(request)).toThrow('X-API-KEY');
    request.admission = await admissions.admit(request);
    expect(() => passes(request)).toThrow('X-API-KEY');
    known.admission = await admissions.admit(known);
    expect(passes(known)).toBe(true);
  });

  it('is answered with a secret that is derived from the key for secrets', () => {
    const [derived] = KeyRing.parse(SECRETS_KEY).derived('answers to callers without a key');
    expect(anonymousSecret(SECRETS_KEY)).toBe(derived.toString('hex'));
  });
});

describe('a key that was never seen', () => {
  it('counts for the address while it is looked up, and not after it proves valid', async () => {
    const { admissions, keys, noted } = setUp();
    const admission = await admissions.admit(withKey());
    expect(admission).toMatchObject({ caller: CALLER, secret: 's', counted: 1 });
    expect(admission.verdict).toMatchObject({ limit: 50, remaining: 49 });
    expect(requireCaller(admission)).toBe(CALLER);
    expect([keys.asked, noted]).toEqual([1, ['c']]);
    const { verdict } = await admissions.anonymous('192.0.2.1');
    expect(verdict.remaining).toBe(ANONYMOUS_BURST - 1);
    expect(admissions.known(withKey())).toBe(CALLER);
    expect(admissions.known(aRequest())).toBeUndefined();
    await admissions.admit(withKey());
    expect(keys.asked).toBe(1);
  });

  it('stays counted if it has no caller, each time, and is looked up once', async () => {
    const { admissions, keys, noted } = setUp();
    keys.find = () => Promise.resolve(undefined);
    for (const remaining of [99, 98]) {
      const admission = await admissions.admit(withKey());
      expect(admission).toMatchObject({ secret: ANON_SECRET, verdict: { remaining } });
      expect(admission.caller).toBeUndefined();
    }
    expect([keys.asked, noted]).toEqual([1, []]);
    expect(admissions.known(withKey())).toBeUndefined();
  });

  it('is not looked up if the limit of the address is reached', async () => {
    const { admissions, keys } = setUp();
    for (let sent = 0; sent < ANONYMOUS_BURST; sent++) await admissions.anonymous('192.0.2.1');
    expect((await admissions.admit(withKey())).refusal).toMatchObject({ status: 429 });
    expect(keys.asked).toBe(0);
  });

  it('is refused with the reason if it cannot be looked up, and counts once', async () => {
    const { admissions, keys } = setUp();
    keys.find = () => Promise.reject(new PermanentError('BROKEN', 'It is broken.'));
    const admission = await admissions.admit(withKey());
    expect(admission.refusal?.status).toBe(500);
    expect(admission).toMatchObject({ secret: ANON_SECRET, verdict: { remaining: 99 } });
    expect(admission.caller).toBeUndefined();
  });
});

describe('a key that had a caller', () => {
  it('is looked up again although the limit of the address is reached', async () => {
    const { admissions, clock, keys } = setUp();
    await admissions.admit(withKey());
    clock.advance(5001);
    for (let sent = 0; sent < ANONYMOUS_BURST; sent++) await admissions.anonymous('192.0.2.1');
    expect((await admissions.admit(withKey())).caller).toBe(CALLER);
    expect(keys.asked).toBe(2);
    expect((await admissions.anonymous('192.0.2.1')).verdict.allowed).toBe(false);
  });

  it('counts for the address once it has none any longer', async () => {
    const { admissions, clock, keys } = setUp();
    await admissions.admit(withKey());
    clock.advance(5001);
    keys.find = () => Promise.resolve(undefined);
    expect((await admissions.admit(withKey())).verdict).toMatchObject({
      limit: 100,
      remaining: 99,
    });
  });
});

describe('what a request counts as', () => {
  it.each([
    [{}, 1],
    [{ 'content-length': '0' }, 1],
    [{ 'content-length': '2048' }, 1],
    [{ 'content-length': '2049' }, 2],
    [{ 'content-length': '20480' }, 10],
    [{ 'content-length': '999999999' }, 50],
    [{ 'transfer-encoding': 'chunked' }, 32],
    [{ 'transfer-encoding': 'chunked', 'content-length': '1' }, 32],
  ])('by its head %j', async (headers, counted) => {
    const admission = await setUp().admissions.admit(withKey(headers));
    expect(admission).toMatchObject({ counted, verdict: { remaining: 50 - counted } });
  });

  it('is the limit of the partner alone, whichever of its keys is used', async () => {
    const { admissions, keys } = setUp();
    for (let sent = 0; sent < 50; sent++) await admissions.admit(withKey());
    const refused = await admissions.admit(withKey());
    expect(refused).toMatchObject({ caller: CALLER, secret: 's', refusal: { status: 429 } });
    const other = await admissions.admit(aRequest({ 'x-api-key': mintCredential().apiKey }));
    expect(other.verdict.remaining).toBe(0);
    expect(admissions.refused).toEqual({ partner: 2, address: 0 });
    keys.find = () => Promise.resolve({ ...CALLER, partnerId: 'q' as PartnerId });
    const stranger = await admissions.admit(aRequest({ 'x-api-key': mintCredential().apiKey }));
    expect(stranger.verdict.remaining).toBe(49);
  });

  it('rises to that of its batch, and what was counted before stays counted', async () => {
    const { admissions } = setUp();
    const request = withKey({ 'content-length': '20480' });
    request.admission = await admissions.admit(request);
    for (const count of [10, 5]) await admissions.countAs(request, CALLER, count);
    expect(request.admission.verdict.remaining).toBe(40);
    await admissions.countAs(request, CALLER, 30);
    expect(request.admission).toMatchObject({
      ...{ counted: 30, caller: CALLER, secret: 's' },
      verdict: { remaining: 20 },
    });
    await expect(admissions.countAs(request, CALLER, 51)).rejects.toMatchObject({ status: 429 });
    expect(request.admission).toMatchObject({
      ...{ counted: 30, refusal: { status: 429 } },
      verdict: { allowed: false, remaining: 20 },
    });
    expect(admissions.refused).toEqual({ partner: 1, address: 0 });
  });

  it('says when all of a refused batch can be paid', async () => {
    const { admissions } = setUp();
    const request = withKey({ 'content-length': '20480' });
    request.admission = await admissions.admit(request);
    const refused = admissions.countAs(request, CALLER, 60);
    await expect(refused).rejects.toMatchObject({ retryAfterSeconds: 10 });
    expect(request.admission.verdict.retryAfterSeconds).toBe(10);
  });

  it('is nothing more for a request that was never admitted', async () => {
    const request = withKey();
    await setUp().admissions.countAs(request, CALLER, 1000);
    expect(request.admission).toBeNull();
  });
});
