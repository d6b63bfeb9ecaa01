import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address, canonicalJson } from '#libs/domain';
import { bodyAt, bodyParts, type Snapshot } from './snapshot-answer.js';

const address = fc.stringMatching(/^0x[0-9a-f]{40}$/).map((text) => text as Address);
const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
const snapshots: fc.Arbitrary<Snapshot> = fc.record(
  {
    wallet: address,
    tokenSymbol: fc.string({ unit: 'grapheme' }),
    tokenContract: address,
    stakeContract: address,
    average: amount,
    usd: fc.record({ value: amount, rate: amount }),
    days: fc.array(fc.record({ day: fc.integer({ min: 0, max: 40_000 }), amount }), {
      maxLength: 30,
    }),
  },
  {
    requiredKeys: ['wallet', 'tokenSymbol', 'tokenContract', 'stakeContract', 'average', 'days'],
  },
);

const moments = fc.integer({ min: 0, max: 4e12 });

describe('the body of an answer', () => {
  it('writes canonical JSON, whatever the values', () => {
    fc.assert(
      fc.property(snapshots, moments, (snapshot, requestedAtMs) => {
        const body = bodyAt(bodyParts(snapshot), new Date(requestedAtMs).toISOString());
        expect(canonicalJson(JSON.parse(body))).toBe(body);
        expect(JSON.parse(body)).toMatchObject({
          walletAddress: snapshot.wallet,
          requestedAt: new Date(requestedAtMs).toISOString(),
          averageStakedAmount: snapshot.average,
          tokenSymbol: snapshot.tokenSymbol,
        });
      }),
    );
  });

  it.each([Infinity, NaN])('refuses %s', (average) => {
    const snapshot: Snapshot = {
      wallet: '0x' as Address,
      tokenSymbol: '',
      tokenContract: '0x' as Address,
      stakeContract: '0x' as Address,
      average,
      days: [],
    };
    expect(() => bodyParts(snapshot)).toThrow(
      expect.objectContaining({ code: 'NUMBER_TOO_LARGE' }),
    );
  });
});
