import { describe, expect, it } from '@jest/globals';
import { ledgerFaults, type Ledgers } from './ledgers.js';
import { type RedemptionFacts } from './redemption-facts.js';

const WALLET = '0xa1';

/** A redemption with only the fields that the sums use. */
function claimed(points: number, tokenAmount: bigint): RedemptionFacts {
  const row = { state: 'claimed', wallet: WALLET, points, tokenAmount };
  return { row } as RedemptionFacts;
}

const LEDGERS: Ledgers = {
  wallets: [
    { wallet: WALLET, points: 300, pointsWithoutUs: 1000, tokens: 12n },
    { wallet: '0xa2', points: 50, pointsWithoutUs: 50, tokens: 0n },
    { wallet: '0xa3', points: undefined, pointsWithoutUs: undefined, tokens: 0n },
  ],
  funds: 100n,
  left: 88n,
  strayClaims: [],
  oddities: [],
};
const ALL = [claimed(400, 5n), claimed(300, 7n)];

describe('the ledgers', () => {
  it('agree where points, tokens and the vault do', () => {
    expect(ledgerFaults(ALL, LEDGERS)).toEqual([]);
  });

  it('tell a point and a unit, wherever they are missing', () => {
    const [first, ...others] = LEDGERS.wallets;
    const wallets = [{ ...first, points: 301, tokens: 11n } as typeof first, ...others].flatMap(
      (one) => one ?? [],
    );
    expect(ledgerFaults(ALL, { ...LEDGERS, wallets, left: 89n })).toEqual([
      '0xa1 has 11 tokens, not 12',
      '0xa1 has 301 points, not 300',
      'the vault holds 89, not 88',
    ]);
    const [one = claimed(0, 0n)] = ALL;
    expect(ledgerFaults([one], LEDGERS)).toHaveLength(3);
  });

  it('tell points that came from nowhere, claims of nobody, and what a partner should never see', () => {
    const [first, second, third] = LEDGERS.wallets;
    const wallets = [first, second, { ...third, points: 0 }].map((one) => one as never);
    const strange = { wallets, strayClaims: ['a claim of 0x1'], oddities: ['sent twice'] };
    expect(ledgerFaults(ALL, { ...LEDGERS, ...strange })).toEqual([
      'a claim of 0x1',
      'sent twice',
      '0xa3 has 0 points, not undefined',
    ]);
  });
});
