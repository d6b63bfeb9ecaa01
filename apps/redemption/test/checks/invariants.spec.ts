/** Each check finds its fault: a good redemption with one fault is reported by exactly the checks that must see it. */
import { describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { type Breach, breachesOf, INVARIANTS, told } from './invariants.js';
import { type RedemptionFacts } from './redemption-facts.js';

const WALLET = '0x00000000000000000000000000000000000000a1';
const HASH = `0x${'c'.repeat(64)}`;
const STANDING = { transactionId: 'tx-1', points: 500, reverted: false };
const REVERTED = { ...STANDING, reverted: true };
const CLAIM = { transactionHash: HASH, recipient: WALLET, amount: 7n, blockSeconds: 1000 };
const VAULT = { status: 'none', claims: [], cancellations: 0, finalSeconds: 5000 } as const;

type Part = 'row' | 'books' | 'vault' | 'confirmation';
type Change = { readonly [P in Part]?: Partial<RedemptionFacts[P]> } & {
  readonly callsWithoutRow?: readonly string[];
};

function changed(facts: RedemptionFacts, change: Change): RedemptionFacts {
  return {
    id: facts.id,
    row: { ...facts.row, ...change.row },
    books: { ...facts.books, ...change.books },
    vault: { ...facts.vault, ...change.vault },
    confirmation: { ...facts.confirmation, ...change.confirmation },
    callsWithoutRow: change.callsWithoutRow ?? facts.callsWithoutRow,
  };
}

const CLAIMED: RedemptionFacts = {
  id: 'one',
  row: {
    partner: 'p' as PartnerId,
    state: 'claimed',
    wallet: WALLET,
    points: 500,
    tokenAmount: 7n,
    partnerTransactionId: 'tx-1',
    deadlineSeconds: 2000,
    claimedAtMs: 1_000_000,
    revertedAtMs: null,
    failedAtMs: null,
    claimHash: HASH,
    plans: 1,
    firstFinal: 'a',
    lastFinal: 'a',
  },
  books: { deductions: [STANDING], copiesUnderWay: 0 },
  vault: { ...VAULT, status: 'claimed', claims: [CLAIM] },
  confirmation: {
    wanted: true,
    state: 'delivered',
    payload: '{"status":"claimed"}',
    received: ['{"status":"claimed"}', '{"status":"claimed"}'],
  },
  callsWithoutRow: [],
};
const REVERTED_ONE = changed(CLAIMED, {
  row: { state: 'reverted', claimedAtMs: null, revertedAtMs: 1, claimHash: null },
  books: { deductions: [REVERTED] },
  vault: VAULT,
  confirmation: { payload: '{"status":"reverted"}', received: ['{"status":"reverted"}'] },
});
const FAILED = changed(CLAIMED, {
  row: {
    state: 'failed',
    claimedAtMs: null,
    failedAtMs: 1,
    claimHash: null,
    partnerTransactionId: null,
    deadlineSeconds: null,
    plans: 0,
  },
  books: { deductions: [] },
  vault: VAULT,
  confirmation: { state: null, payload: null, received: [] },
});

/** The first words of the names of the checks that failed. */
function found(...all: readonly RedemptionFacts[]): string[] {
  return [...new Set(breachesOf(all).map(({ invariant }) => invariant.split(/[ :]/)[0] ?? ''))];
}

describe('the checks of the simulation', () => {
  it('find nothing in what is in order', () => {
    const cancelled = changed(REVERTED_ONE, {
      vault: { status: 'cancelled', cancellations: 1, finalSeconds: 1500 },
    });
    const neverAuthorised = changed(REVERTED_ONE, { row: { deadlineSeconds: null, plans: 0 } });
    const unconfirmed = changed(CLAIMED, {
      confirmation: { wanted: false, state: null, payload: null, received: [] },
    });
    for (const one of [CLAIMED, REVERTED_ONE, FAILED, cancelled, neverAuthorised, unconfirmed]) {
      expect(breachesOf([one])).toEqual([]);
    }
  });

  it.each<[string, RedemptionFacts, Change, string[]]>([
    ['the points back as well', CLAIMED, { books: { deductions: [REVERTED] } }, ['I1', 'I2', 'I5']],
    ['no claim', CLAIMED, { vault: VAULT }, ['I2']],
    ['two claims', CLAIMED, { vault: { claims: [CLAIM, CLAIM] } }, ['I2']],
    ['a stranger paid', CLAIMED, { vault: { claims: [{ ...CLAIM, recipient: '0x' }] } }, ['I2']],
    ['a unit too many', CLAIMED, { vault: { claims: [{ ...CLAIM, amount: 8n }] } }, ['I2']],
    ['another hash', CLAIMED, { row: { claimHash: '0x' } }, ['I2']],
    ['another time', CLAIMED, { row: { claimedAtMs: 1 } }, ['I2']],
    ['no deduction', CLAIMED, { books: { deductions: [] } }, ['I2', 'I5']],
    [
      'another deduction',
      CLAIMED,
      { books: { deductions: [{ ...STANDING, transactionId: 'tx-2' }] } },
      ['I2'],
    ],
    ['fewer points', CLAIMED, { books: { deductions: [{ ...STANDING, points: 1 }] } }, ['I5']],
    ['points not restored', REVERTED_ONE, { books: { deductions: [STANDING] } }, ['I3']],
    ['nothing to revert', REVERTED_ONE, { books: { deductions: [] } }, ['I3']],
    ['a deadline to come', REVERTED_ONE, { vault: { finalSeconds: 2000 } }, ['I3']],
    [
      'the tokens gone as well',
      REVERTED_ONE,
      { vault: { status: 'claimed', claims: [CLAIM] } },
      ['I1', 'I3', 'I5'],
    ],
    ['a deduction that stands', FAILED, { books: { deductions: [STANDING] } }, ['I4']],
    ['a copy under way', FAILED, { books: { copiesUnderWay: 1 } }, ['I4']],
    ['a plan', FAILED, { row: { deadlineSeconds: 1, plans: 1 } }, ['I4']],
    ['two deductions', CLAIMED, { books: { deductions: [STANDING, REVERTED] } }, ['I1', 'I6']],
    [
      'no end',
      CLAIMED,
      { row: { state: 'authorised', claimedAtMs: null }, confirmation: FAILED.confirmation },
      ['I7'],
    ],
    ['attention to the last', FAILED, { row: { state: 'attention', failedAtMs: null } }, ['I7']],
    ['no confirmation', CLAIMED, { confirmation: { payload: null } }, ['I8']],
    ['one on its way', CLAIMED, { confirmation: { state: 'pending' } }, ['I8']],
    ['none that arrived', CLAIMED, { confirmation: { received: [] } }, ['I8']],
    [
      'two payloads',
      CLAIMED,
      { confirmation: { received: ['{"status":"claimed"}', '{}'] } },
      ['I8'],
    ],
    ['the wrong payload', CLAIMED, { confirmation: REVERTED_ONE.confirmation }, ['I8']],
    ['one for nothing', FAILED, { confirmation: { received: ['{}'] } }, ['I8']],
    ['both times', CLAIMED, { row: { revertedAtMs: 1 } }, ['I9']],
    ['no time', FAILED, { row: { failedAtMs: null } }, ['I9']],
    ['a row that changed', CLAIMED, { row: { lastFinal: 'b' } }, ['I10']],
    ['two plans', CLAIMED, { row: { plans: 2 } }, ['I11']],
    ['a call without its row', CLAIMED, { callsWithoutRow: ['call-1'] }, ['rule']],
  ])('find %s', (_, good, change, expected) => {
    expect(found(changed(good, change))).toEqual(expected);
  });

  it('find two redemptions with one transaction id, of one partner only', () => {
    const other = { ...CLAIMED, id: 'other' };
    expect(breachesOf([CLAIMED, other]).map(told)).toEqual([
      'I11 transaction ids are unique: p/tx-1 is also that of one (other)',
    ]);
    expect(breachesOf([CLAIMED, changed(other, { row: { partner: 'q' as PartnerId } })])).toEqual(
      [],
    );
  });

  it('say which and what', () => {
    const [breach] = breachesOf([changed(FAILED, { books: { deductions: [STANDING] } })]);
    expect(told(breach as Breach)).toBe(
      'I4 failed: no deduction stands, now or later: a deduction stands (one)',
    );
    expect(new Set(INVARIANTS.map((name) => name.split(/[ :]/)[0]))).toEqual(
      new Set(['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10', 'I11', 'rule']),
    );
  });
});
