import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing';
import { LEASE_MS, LocalShare } from './local-share.js';

const POLICY = { rate: 20, burst: 100 };
const BURST_MS = 5000;

function setUp({ replicas = 2, joined = true, maxCallers = 100 } = {}) {
  const clock = new FakeClock(1_000_000);
  const share = new LocalShare(() => clock.nowMs(), maxCallers);
  if (joined) share.join();
  share.divide(replicas, replicas === 1);
  if (joined) clock.advance(10_000);
  const admitted = (times: number, key = 'a'): number =>
    Array.from({ length: times }, () => share.take(key, POLICY)).filter(({ allowed }) => allowed)
      .length;
  return { clock, share, admitted };
}

describe('LocalShare', () => {
  it('is its part of a burst, and its part of the rate once what Redis was owed is over', () => {
    const { clock, admitted } = setUp();
    expect(admitted(200)).toBe(50);
    clock.advance(LEASE_MS + BURST_MS);
    expect(admitted(200)).toBe(0);
    clock.advance(1000);
    expect(admitted(200)).toBe(10);
    clock.advance(60_000);
    expect(admitted(200)).toBe(50);
  });

  it('tells when the next request is allowed', () => {
    const { clock, share, admitted } = setUp();
    admitted(50);
    const { retryAfterSeconds, ...rest } = share.take('a', POLICY);
    expect(rest).toEqual({ allowed: false, limit: 100, remaining: 0, resetSeconds: 14 });
    clock.advance(retryAfterSeconds * 1000);
    expect(share.take('a', POLICY)).toMatchObject({ allowed: true, limit: 100 });
  });

  it('is less by what Redis was owed last, as long as that is owed', () => {
    const { clock, share, admitted } = setUp();
    share.note('a', BURST_MS);
    expect(share.take('a', POLICY)).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    clock.advance(1000);
    expect(admitted(200)).toBe(10);
    clock.advance(4000);
    expect(admitted(200)).toBe(40);
  });

  it('does not grow while it is apart, and shrinks with each replica that starts', () => {
    const { share, admitted } = setUp();
    expect(admitted(10)).toBe(10);
    share.divide(4);
    share.divide(1);
    expect(admitted(100)).toBe(15);
  });

  it('begins with its rate alone where it has never been with the others, unless there are none', () => {
    const { clock, admitted } = setUp({ joined: false });
    expect(admitted(100)).toBe(0);
    clock.advance(1000);
    expect(admitted(100)).toBe(10);
    expect(setUp({ joined: false, replicas: 1 }).admitted(200)).toBe(100);
  });

  it('has no burst where it is the only one as far as it knows, which is not far', () => {
    const { clock, share, admitted } = setUp({ joined: false });
    share.divide(1, false);
    expect(admitted(100)).toBe(0);
    clock.advance(1000);
    expect(admitted(100)).toBe(20);
  });

  it.each([
    { policy: POLICY, perSecond: 15 },
    { policy: { rate: 50, burst: 10 }, perSecond: 30 },
  ])('of a replica that is alone is all of $policy, at once and later', ({ policy, perSecond }) => {
    const { clock, share } = setUp({ replicas: 1 });
    share.note('a', 1000 / policy.rate);
    for (let request = 0; request < 60 * perSecond; request += 1) {
      expect(share.take('a', policy).allowed).toBe(true);
      clock.advance(1000 / perSecond);
    }
  });

  it('of a replica that is alone drains once what it put on Redis’ account is over, also by settling', () => {
    const { clock, share, admitted } = setUp({ replicas: 1 });
    share.note('a', 2000);
    expect(admitted(200)).toBe(60);
    clock.advance(2000);
    expect(admitted(200)).toBe(40);
    clock.advance(1000);
    expect(admitted(200)).toBe(20);
    share.join();
    share.settle('a', 4000);
    expect(share.owed()).toMatchObject([{ owedMs: 1000 }]);
    expect(admitted(200)).toBe(0);
    clock.advance(4000);
    expect(admitted(200)).toBe(80);
    expect(share.owed()).toMatchObject([{ owedMs: 5000 }]);
  });

  it('of a replica that has been alone for less than a burst drains when that is over', () => {
    const { clock, share, admitted } = setUp();
    share.divide(1, true);
    clock.advance(1000);
    expect(admitted(200)).toBe(100);
    clock.advance(4000);
    expect(admitted(200)).toBe(0);
    clock.advance(1000);
    expect(admitted(200)).toBe(20);
  });

  it('is one request at least', () => {
    const { share } = setUp({ replicas: 5 });
    const verdicts = [1, 2].map(() => share.take('b', { rate: 1, burst: 2 }));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  it('keeps what is owed until it is settled', () => {
    const { clock, share, admitted } = setUp();
    admitted(50);
    share.join();
    clock.advance(600_000);
    expect(share.owed()).toEqual([{ key: 'a', policy: POLICY, owedMs: 2500 }]);
    share.settle('a', 1000);
    // While Redis holds this debt, the replica does not admit that part.
    clock.advance(1000);
    expect(admitted(50)).toBe(20);
    share.join();
    share.settle('a', 2500);
    expect(share.owed()).toEqual([]);
  });

  it('gives back what was taken from it, and nothing else', () => {
    const { share, admitted } = setUp();
    expect(share.giveBack('a', POLICY)).toBe(false);
    admitted(50);
    expect(share.giveBack('a', POLICY)).toBe(true);
    expect(admitted(10)).toBe(1);
  });

  it('remembers a bounded number of keys', () => {
    const { share, admitted } = setUp({ maxCallers: 10 });
    admitted(50, 'old');
    for (let i = 0; i < 10; i += 1) admitted(1, `new${i}`);
    expect(share.owed()).toHaveLength(10);
    expect(admitted(1, 'old')).toBe(1);
  });
});
