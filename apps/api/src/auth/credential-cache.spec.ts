import { describe, expect, it } from '@jest/globals';
import { type PartnerStore } from '#libs/db';
import { type PartnerId, type CredentialId } from '#libs/domain';
import { hashApiKey, KeyRing, mintCredential, mintGrant } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { type Caller, CredentialCache, PartnerKeys } from './credential-cache.js';

const CALLER: Caller = {
  ...{ partnerId: 'p' as PartnerId, credentialId: 'c' as CredentialId, stakeSet: 'default' },
  ...{ sharedSecret: 's', rate: 1, burst: 1 },
};

/** A source of callers that gives a set answer and records each look-up. */
class Source {
  readonly asked: string[] = [];
  answer: () => Promise<Caller | undefined> = () => Promise.resolve(CALLER);

  readonly load = (apiKey: string): Promise<Caller | undefined> => {
    this.asked.push(apiKey);
    return this.answer();
  };
}

function setUp(maxKeys = 10) {
  const source = new Source();
  const clock = new FakeClock(1_000_000);
  const options = { ttlMs: 5000, retryMs: 1000, maxKeys };
  return {
    source,
    clock,
    cache: new CredentialCache(source as unknown as PartnerKeys, clock, options),
  };
}

describe('CredentialCache', () => {
  it('asks once per key at a time, and again after its time', async () => {
    const { source, clock, cache } = setUp();
    expect(cache.peek('k')).toBeUndefined();
    await Promise.all([cache.load('k'), cache.load('k'), cache.load('k')]);
    expect(source.asked).toEqual(['k']);
    clock.advance(4999);
    expect(cache.peek('k')).toBe(CALLER);
    clock.advance(1);
    expect(cache.peek('k')).toBeUndefined();
    expect(cache.wasKnown('k')).toBe(true);
  });

  it('counts the time of a key from the beginning of its look-up', async () => {
    const { source, clock, cache } = setUp();
    let found: (caller: Caller) => void = () => undefined;
    source.answer = () => new Promise((resolve) => (found = resolve));
    const looking = cache.load('k');
    // The row is read, and the key revoked; the answer comes late.
    clock.advance(4000);
    found(CALLER);
    await looking;
    clock.advance(999);
    expect(cache.peek('k')).toBe(CALLER);
    clock.advance(1);
    expect(cache.peek('k')).toBeUndefined();
  });

  it('counts the time of a key without a caller from there, too', async () => {
    const { source, clock, cache } = setUp();
    source.answer = () => {
      clock.advance(4000);
      return Promise.resolve(undefined);
    };
    await cache.load('k');
    clock.advance(999);
    expect(cache.peek('k')).toBe('unknown');
    clock.advance(1);
    expect(cache.peek('k')).toBeUndefined();
  });

  it('remembers that a key is nobody’s as long as a caller: the key may have been issued since', async () => {
    const { source, clock, cache } = setUp();
    source.answer = () => Promise.resolve(undefined);
    expect(await cache.load('k')).toBeUndefined();
    clock.advance(4999);
    expect(cache.peek('k')).toBe('unknown');
    expect(cache.wasKnown('k')).toBe(false);
    clock.advance(1);
    expect(cache.peek('k')).toBeUndefined();
    source.answer = () => Promise.resolve(CALLER);
    expect(await cache.load('k')).toBe(CALLER);
    expect(cache.peek('k')).toBe(CALLER);
  });

  it('keeps a known caller while the source is down, and asks again a second later', async () => {
    const { source, clock, cache } = setUp();
    await cache.load('k');
    source.answer = () => Promise.reject(new Error('down'));
    clock.advance(5000);
    expect(await cache.load('k')).toBe(CALLER);
    expect(cache.peek('k')).toBe(CALLER);
    clock.advance(1000);
    expect(cache.peek('k')).toBeUndefined();
    source.answer = () => Promise.resolve(undefined);
    expect(await cache.load('k')).toBeUndefined();
    expect(cache.peek('k')).toBe('unknown');
    expect(cache.wasKnown('k')).toBe(false);
  });

  it('fails for a caller never seen while the source is down, and remembers nothing of it', async () => {
    const { source, cache } = setUp();
    source.answer = () => Promise.reject(new Error('down'));
    await expect(cache.load('k')).rejects.toThrow('down');
    source.answer = () => Promise.resolve(CALLER);
    expect(await cache.load('k')).toBe(CALLER);
  });

  it('forgets no caller for keys that have none, however many', async () => {
    const { source, cache } = setUp(2);
    await cache.load('known');
    source.answer = () => Promise.resolve(undefined);
    for (const key of ['a', 'b', 'c']) await cache.load(key);
    expect([cache.peek('known'), cache.peek('a')]).toEqual([CALLER, undefined]);
    expect(cache.peek('c')).toBe('unknown');
  });
});

describe('PartnerKeys', () => {
  const NOW = 1_760_000_000_000;
  const keyRing = KeyRing.parse(Buffer.alloc(32, 7).toString('base64'));
  const { apiKey, sharedSecret } = mintCredential();
  const keyHash = hashApiKey(apiKey);
  const { partnerId, credentialId, stakeSet, rate, burst } = CALLER;
  const known = { partnerId, credentialId, stakeSet, rate, burst };
  const found = { ...known, secretCiphertext: keyRing.seal(sharedSecret, keyHash) };
  const findCredential = (hash: Buffer) =>
    Promise.resolve(hash.equals(keyHash) ? found : undefined);
  const keys = new PartnerKeys(
    { findCredential } as unknown as PartnerStore,
    keyRing,
    new FakeClock(NOW),
  );

  it.each([
    ['an API key', apiKey],
    ['a grant', mintGrant(keyRing, keyHash, NOW + 1)],
  ])('find the caller of %s, with its secret', async (_case, key) => {
    expect(await keys.load(key)).toEqual({ ...known, sharedSecret });
  });

  it.each([
    ['another key', mintCredential().apiKey],
    ['a grant that is over', mintGrant(keyRing, keyHash, NOW)],
  ])('find none for %s', async (_case, key) => {
    expect(await keys.load(key)).toBeUndefined();
  });
});
