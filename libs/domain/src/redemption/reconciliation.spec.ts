import { type PartnerId } from '../values/ids.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '../values/address.js';
import {
  type LedgerFigures,
  type Money,
  reconcile,
  type ReconciliationFigures,
  type Tokens,
  UNSETTLED_KINDS,
  type UnsettledKind,
  type VaultFigures,
} from './reconciliation.js';

const VAULT = `0x${'7a'.repeat(20)}` as Address;
const NOTHING: Tokens = { count: 0, tokens: 0n };

function sum(amounts: readonly bigint[]): Tokens {
  return { count: amounts.length, tokens: amounts.reduce((total, one) => total + one, 0n) };
}

function money(amounts: readonly bigint[]): Money {
  const { count, tokens } = sum(amounts);
  return { count, tokens, points: tokens * 3n };
}

interface Claim {
  /** `settled`, or why the claim is not settled. */
  readonly fate: 'settled' | 'missing' | UnsettledKind;
  readonly amount: bigint;
  /** Amount in the row, where it differs from the claim's. */
  readonly rowAmount: bigint;
}

/** The figures of the single claims: an oracle that never subtracts. */
function figuresOf(claims: readonly Claim[]): VaultFigures {
  const of = (...fates: Claim['fate'][]) => claims.filter(({ fate }) => fates.includes(fate));
  const paid = (some: readonly Claim[]) => sum(some.map(({ amount }) => amount));
  const different = sum(of('different').map(({ rowAmount }) => rowAmount));
  const recorded = paid(of('settled', 'missing'));
  const unsettled = UNSETTLED_KINDS.map((kind) => {
    const ledger = kind === 'different' ? different : NOTHING;
    return [kind, { chain: paid(of(kind)), ledger, examples: [] }] as const;
  });
  return {
    chainId: 1,
    vault: VAULT,
    blockNumber: 9n,
    chain: paid(of('settled', ...UNSETTLED_KINDS)),
    ledger: {
      count: recorded.count + different.count,
      tokens: recorded.tokens + different.tokens,
    },
    unsettled: Object.fromEntries(unsettled) as unknown as VaultFigures['unsettled'],
    missing: { ...paid(of('missing')), examples: [] },
  };
}

function ledgerOf(claimed: bigint[], reverted: bigint[], open: bigint[]): LedgerFigures {
  return {
    partner: 'p' as PartnerId,
    deducted: money([...claimed, ...reverted, ...open]),
    claimed: money(claimed),
    reverted: money(reverted),
    open: money(open),
  };
}

function all(change: Partial<ReconciliationFigures> = {}): ReconciliationFigures {
  return { ledgers: [], vaults: [], elsewhere: NOTHING, ...change };
}

const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
const amounts = fc.array(amount, { maxLength: 8 });
const claim = (...fates: Claim['fate'][]) =>
  fc.record({ fate: fc.constantFrom(...fates), amount, rowAmount: amount });

describe('reconcile', () => {
  it('finds nothing where all claims are recorded or just open', () => {
    fc.assert(
      fc.property(fc.array(claim('settled', 'open')), (claims) => {
        expect(reconcile(all({ vaults: [figuresOf(claims)] }))).toEqual([]);
      }),
    );
  });

  it('names each kind of claim that does not fit, with its sum, and needs no other explanation', () => {
    const kinds = {
      'without-row': 'claim-without-row',
      unpayable: 'claim-unpayable',
      different: 'claim-different',
      overdue: 'claim-overdue',
      missing: 'row-without-claim',
    } as const;
    fc.assert(
      fc.property(fc.array(claim('settled', 'missing', ...UNSETTLED_KINDS)), (claims) => {
        const found = reconcile(all({ vaults: [figuresOf(claims)] }));
        const expected = Object.entries(kinds).flatMap(([fate, kind]) => {
          const some = claims.filter((one) => one.fate === fate);
          if (some.length === 0) return [];
          const { count, tokens } = sum(some.map((one) => one.amount));
          return [{ kind, severity: 'critical', count, tokens, subject: VAULT }];
        });
        expect(found).toHaveLength(expected.length);
        expect(found).toMatchObject(expected);
      }),
    );
  });

  it('finds whatever is missing on either side, to the smallest unit', () => {
    fc.assert(
      fc.property(
        fc.array(claim('settled', ...UNSETTLED_KINDS)),
        fc.constantFrom('chain', 'ledger'),
        fc.record({ count: fc.constantFrom(-1, 0, 1), tokens: fc.bigInt({ min: -9n, max: 9n }) }),
        (claims, side, by) => {
          fc.pre(by.count !== 0 || by.tokens !== 0n);
          const right = figuresOf(claims);
          const { count, tokens } = right[side];
          const wrong = { count: count + by.count, tokens: tokens + by.tokens };
          const found = reconcile(all({ vaults: [{ ...right, [side]: wrong }] }));
          const more = side === 'chain' ? by : { count: 0 - by.count, tokens: 0n - by.tokens };
          expect(found.filter(({ kind }) => kind === 'sums-differ')).toMatchObject([
            { severity: 'critical', ...more },
          ]);
        },
      ),
    );
  });

  it('finds nothing in a ledger that adds up and only grows', () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, amounts, (claimed, reverted, open, more) => {
        const before = ledgerOf(claimed, reverted, open);
        // Redemptions that were open are claimed now.
        const now = ledgerOf([...claimed, ...open], reverted, more);
        expect(reconcile(all({ ledgers: [now] }), { ledgers: [before] })).toEqual([]);
      }),
    );
  });

  it.each(['deducted', 'claimed', 'reverted', 'open'] as const)(
    'finds a ledger that does not add up: %s',
    (column) => {
      const right = ledgerOf([1n], [2n], [3n]);
      for (const part of ['count', 'tokens', 'points'] as const) {
        const value = right[column][part];
        const wrong = typeof value === 'bigint' ? value + 1n : value + 1;
        const ledger = { ...right, [column]: { ...right[column], [part]: wrong } };
        expect(reconcile(all({ ledgers: [ledger] }))).toMatchObject([
          { kind: 'ledger-unbalanced', severity: 'critical', subject: 'p' },
        ]);
      }
    },
  );

  it('finds a ledger that has less than before, or is gone', () => {
    const before = { ledgers: [ledgerOf([1n, 2n], [3n], [])] };
    const shrunk = { kind: 'ledger-shrank', severity: 'critical', count: 1, tokens: 2n };
    const now = all({ ledgers: [ledgerOf([1n], [3n], [2n])] });
    expect(reconcile(now, before)).toMatchObject([shrunk]);
    expect(reconcile(all(), before)).toMatchObject([{ ...shrunk, count: 3, tokens: 6n }]);
    expect(reconcile(now)).toEqual([]);
  });

  it.each(['count', 'tokens', 'points'] as const)('finds a ledger with less %s alone', (part) => {
    const right = ledgerOf([1n], [2n], [3n]);
    const value = right.claimed[part];
    const more = typeof value === 'bigint' ? value + 1n : value + 1;
    const before = { ...right, claimed: { ...right.claimed, [part]: more } };
    expect(reconcile(all({ ledgers: [right] }), { ledgers: [before] })).toMatchObject([
      { kind: 'ledger-shrank', text: 'less than in the last run, which cannot be: claimed' },
    ]);
  });

  it('says of each difference what it is, with examples if it has any', () => {
    const claims = figuresOf([
      ...(['settled', 'missing', ...UNSETTLED_KINDS] as const).map((fate) => {
        return { fate, amount: 1n, rowAmount: 1n };
      }),
    ]);
    const right = ledgerOf([1n], [2n], [3n]);
    const vault = { ...claims, chain: { count: 8, tokens: 9n } };
    const ledger = { ...right, open: { count: 2, tokens: 4n, points: 10n } };
    const more = { ...right, deducted: money([9n, 9n]), reverted: money([9n]) };
    const now = all({ vaults: [vault], ledgers: [ledger], elsewhere: { count: 2, tokens: 5n } });
    const found = reconcile(now, { ledgers: [more] });
    expect(found.map(({ text }) => text)).toEqual([
      '1 claims of no redemption: someone else signs vouchers',
      '1 claims of redemptions that must not be paid',
      '1 claims of another amount, recipient or vault than planned',
      '1 claims that the worker has not recorded',
      '1 redemptions are claimed, and the chain has no claim of them',
      'the chain has 8 claims of 9, the ledger 3 of 3; 1 of 2 are not explained',
      'deducted is not claimed + reverted + open: -1 redemptions of -1 points between them',
      'less than in the last run, which cannot be: deducted, reverted',
      '2 redemptions were claimed on vaults that are not compared with',
    ]);
    expect(found.flatMap(({ examples }) => examples)).toEqual([]);
  });

  it('warns of vaults that nobody compares with', () => {
    const elsewhere = { count: 2, tokens: 5n };
    expect(reconcile(all({ elsewhere }))).toMatchObject([
      { kind: 'vault-not-compared', severity: 'warning', ...elsewhere },
    ]);
  });
});
