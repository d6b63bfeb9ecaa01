import { describe, expect, it } from '@jest/globals';
import { type Address } from '../values/address.js';
import { type BlockHash, type BlockRef } from '../values/block.js';
import {
  type CancelEvent,
  type ClaimEvent,
  type EvidenceRules,
  type PayoutEvidence,
  payoutEvidence,
  type PayoutTerms,
  type VaultSighting,
  type VaultStatus,
} from './payout-evidence.js';

const DEADLINE = 1_000;
const terms: PayoutTerms = { recipient: anAddress('a'), amount: 50n, deadlineSeconds: DEADLINE };

function anAddress(digit: string): Address {
  return `0x${digit.repeat(40)}` as Address;
}
function aBlock(number: number, timestampSeconds: number, branch = 'a'): BlockRef {
  const hash = `0x${branch}${number.toString().padStart(63, '0')}` as BlockHash;
  return { number: BigInt(number), hash, timestampSeconds };
}
function aClaim(changes: Partial<ClaimEvent> = {}): ClaimEvent {
  const { recipient, amount } = terms;
  return { transactionHash: '0xc1', block: aBlock(5, 990), recipient, amount, ...changes };
}
const cancellation: CancelEvent = { transactionHash: '0xca', block: aBlock(5, 990) };
/** A sighting whose final block is the first one after the deadline. */
function aSighting(changes: Partial<VaultSighting> = {}): VaultSighting {
  return {
    witness: 'one#1',
    finalised: aBlock(9, DEADLINE + 1),
    status: 'none',
    claims: [],
    cancellations: [],
    ...changes,
  };
}
const paid = aSighting({ status: 'claimed', claims: [aClaim()] });
const cancelled = aSighting({ status: 'cancelled', cancellations: [cancellation] });
/** Our clock is well past the deadline. */
const alone: EvidenceRules = { witnesses: 1, nowSeconds: DEADLINE + 900, marginSeconds: 0 };
const together: EvidenceRules = { ...alone, witnesses: 2 };
const seen = (sighting: VaultSighting, rules = alone): PayoutEvidence =>
  payoutEvidence(terms, [sighting], rules);

describe('the evidence about a payout', () => {
  it('is none without a sighting', () => {
    expect(payoutEvidence(terms, [], alone)).toEqual({ outcome: 'live' });
  });

  it('is paid by a final claim, with what there is to know of it', () => {
    expect(seen(paid)).toEqual({ outcome: 'paid', finalised: paid.finalised, ...aClaim() });
  });

  it('is paid by a claim in the final block itself, at the deadline itself', () => {
    const finalised = aBlock(9, DEADLINE);
    const claims = [aClaim({ block: finalised })];
    expect(seen(aSighting({ finalised, status: 'claimed', claims })).outcome).toBe('paid');
  });

  it('is dead by a final cancellation, before the deadline too', () => {
    const finalised = aBlock(9, 995);
    expect(seen({ ...cancelled, finalised })).toEqual({
      outcome: 'dead',
      reason: 'cancelled',
      finalised,
      ...cancellation,
    });
  });

  it.each([
    ['before the deadline', DEADLINE - 1, 'live'],
    ['at the deadline', DEADLINE, 'live'],
    ['after the deadline', DEADLINE + 1, 'dead'],
  ])('of silence with a final block %s (%d) is %s', (_case, seconds, outcome) => {
    const finalised = aBlock(9, seconds);
    expect(seen(aSighting({ finalised }))).toEqual(
      outcome === 'dead' ? { outcome, reason: 'expired', finalised } : { outcome },
    );
  });

  it.each([
    ['at the deadline', DEADLINE, 0, 'live'],
    ['after the deadline', DEADLINE + 1, 0, 'dead'],
    ['at the end of the margin', DEADLINE + 300, 300, 'live'],
    ['after the margin', DEADLINE + 301, 300, 'dead'],
  ])('of silence with our clock %s (%d, %d) is %s', (_case, nowSeconds, marginSeconds, outcome) => {
    const finalised = aBlock(9, DEADLINE + 100);
    expect(seen(aSighting({ finalised }), { witnesses: 1, nowSeconds, marginSeconds })).toEqual(
      outcome === 'dead' ? { outcome, reason: 'expired', finalised } : { outcome },
    );
  });

  it('of a claim or a cancellation needs no clock', () => {
    const early = { ...alone, nowSeconds: 0, marginSeconds: 300 };
    expect(seen(paid, early).outcome).toBe('paid');
    expect(seen(cancelled, early).outcome).toBe('dead');
  });

  describe('is live and doubtful where status and events disagree', () => {
    const counts = [0, 1, 2];
    const cells = (['none', 'claimed', 'cancelled'] as VaultStatus[]).flatMap((status) =>
      counts.flatMap((claims) =>
        counts.map((cancellations) => ({ status, claims, cancellations })),
      ),
    );
    const fits = { none: '0/0', claimed: '1/0', cancelled: '0/1' };
    it.each(cells)('$status, $claims claims, $cancellations cancellations', (cell) => {
      const evidence = seen(
        aSighting({
          status: cell.status,
          claims: Array.from({ length: cell.claims }, () => aClaim()),
          cancellations: Array.from({ length: cell.cancellations }, () => cancellation),
        }),
      );
      const isFit = `${cell.claims}/${cell.cancellations}` === fits[cell.status];
      expect(evidence.outcome === 'live').toBe(!isFit);
      if (isFit) return;
      expect(evidence).toMatchObject({
        doubt: { kind: 'contradiction', text: expect.stringContaining(`is ${cell.status}, with`) },
      });
    });
  });

  it.each<[string, Partial<ClaimEvent>, string]>([
    ['another recipient', { recipient: anAddress('b') }, 'the claim paid 0xbbbb'],
    ['another amount', { amount: 51n }, 'the claim paid 51, not 50'],
    ['a time after the deadline', { block: aBlock(6, DEADLINE + 1) }, 'later than its deadline'],
    ['a block above the final one', { block: aBlock(10, 990) }, 'not up to the final block'],
    ['a block of another fork', { block: aBlock(9, DEADLINE, 'b') }, 'not up to the final block'],
    ['a time above the final one', { block: aBlock(6, 1_002) }, 'not up to the final block'],
  ])('is live and doubtful for a claim with %s', (_case, changes, text) => {
    expect(seen(aSighting({ status: 'claimed', claims: [aClaim(changes)] }))).toMatchObject({
      outcome: 'live',
      doubt: { kind: 'contradiction', text: expect.stringContaining(text) },
    });
  });

  describe('of two nodes', () => {
    const two = (first: VaultSighting, second: VaultSighting): PayoutEvidence =>
      payoutEvidence(terms, [first, { ...second, witness: 'two#2' }], together);

    it.each([
      ['a claim', paid, 'paid'],
      ['a cancellation', cancelled, 'dead'],
      ['silence', aSighting(), 'dead'],
    ])('that see the same end, %s, is that end', (_case, sighting, outcome) => {
      expect(two(sighting, sighting)).toMatchObject({ outcome });
    });

    it.each([
      ['silence and a claim', aSighting(), paid],
      ['a claim and silence', paid, aSighting()],
      ['silence and a cancellation', aSighting(), cancelled],
      ['a cancellation and silence', cancelled, aSighting()],
      ['a claim and a cancellation', paid, cancelled],
      [
        'a claim and a cancellation in one transaction',
        paid,
        { ...cancelled, cancellations: [{ ...cancellation, transactionHash: '0xc1' }] },
      ],
      [
        'claims in different transactions',
        paid,
        { ...paid, claims: [aClaim({ transactionHash: '0xc2' })] },
      ],
      [
        'a claim in a block of different times',
        paid,
        { ...paid, claims: [aClaim({ block: aBlock(5, 991) })] },
      ],
    ])('is live and doubtful for %s', (_case, first, second) => {
      expect(two(first, second)).toMatchObject({
        outcome: 'live',
        doubt: { kind: 'contradiction', text: expect.stringMatching(/one#1 sees .*two#2 sees/) },
      });
    });

    it('says what each of them sees', () => {
      const block = (number: number) => aBlock(number, 0).hash;
      const textOf = (evidence: PayoutEvidence) =>
        evidence.outcome === 'live' ? evidence.doubt?.text : undefined;
      expect(textOf(two(paid, cancelled))).toBe(
        `one#1 sees a claim in 0xc1 of block ${block(5)} at 990, ` +
          `two#2 sees a cancellation in 0xca of block ${block(5)} at 990, up to block ${block(9)}`,
      );
      expect(textOf(two(aSighting(), paid))).toContain('one#1 sees an expired one, two#2 sees a');
      const open = aSighting({ finalised: aBlock(9, DEADLINE) });
      const atDeadline = { ...paid, finalised: open.finalised };
      expect(textOf(two(open, atDeadline))).toContain('one#1 sees an open payout, two#2 sees a');
      const claims = [aClaim(), aClaim()];
      expect(textOf(seen({ ...cancelled, claims }))).toBe(
        'one#1: the status at block 9 is cancelled, with 2 claims and 1 cancellations',
      );
      const further = { ...paid, witness: 'three#3' };
      const three = { ...together, witnesses: 3 };
      expect(textOf(payoutEvidence(terms, [paid, further], three))).toContain(
        'one#1, three#3 sees',
      );
      const higher = {
        ...paid,
        finalised: aBlock(12, 1_050),
        claims: [aClaim({ block: aBlock(11, 1_000) })],
      };
      expect(textOf(two(aSighting(), higher))).toBe(
        'two#2 sees an end in final block 11; another endpoint has blocks final up to 9 only',
      );
    });

    describe('of which one has more blocks final', () => {
      const ahead = aBlock(12, 1_050);
      const late = aClaim({ block: aBlock(11, 1_000) });

      it.each<[string, VaultSighting, string]>([
        ['a claim', paid, 'paid'],
        ['a cancellation', cancelled, 'dead'],
        ['silence', aSighting(), 'dead'],
      ])('is that end, by the lower block, for %s', (_case, sighting, outcome) => {
        const higher = { ...sighting, finalised: ahead };
        const { finalised } = sighting;
        expect(two(sighting, higher)).toMatchObject({ outcome, finalised });
        expect(two(higher, sighting)).toMatchObject({ outcome, finalised });
      });

      it('is live where the lower one is not after the deadline', () => {
        const lower = aSighting({ finalised: aBlock(9, DEADLINE) });
        const higher = aSighting({ finalised: ahead });
        expect(two(lower, higher)).toEqual({ outcome: 'live' });
        expect(two(higher, lower)).toEqual({ outcome: 'live' });
      });

      it.each([
        ['before', DEADLINE - 1],
        ['after', DEADLINE + 1],
      ])(
        'is no silence for a claim above the lower one, %s the deadline',
        (_case, timestampSeconds) => {
          const lower = aSighting({ finalised: aBlock(9, timestampSeconds) });
          const higher = aSighting({ finalised: ahead, status: 'claimed', claims: [late] });
          for (const evidence of [two(lower, higher), two(higher, lower)]) {
            expect(evidence).toMatchObject({ outcome: 'live', doubt: { kind: 'unconfirmed' } });
          }
        },
      );
    });

    it.each([
      ['first', aSighting({ status: 'claimed' }), paid],
      ['second', paid, aSighting({ status: 'claimed' })],
    ])('is the doubt of the %s where it contradicts itself', (_case, first, second) => {
      expect(two(first, second)).toMatchObject({
        outcome: 'live',
        doubt: { kind: 'contradiction', text: expect.stringContaining('with no event') },
      });
    });

    it.each([paid, cancelled, aSighting()])(
      'is unconfirmed while only one was asked',
      (sighting) => {
        const doubt = { kind: 'unconfirmed', text: expect.stringContaining('one#1 sees') };
        expect(payoutEvidence(terms, [sighting], together)).toEqual({ outcome: 'live', doubt });
        expect(payoutEvidence(terms, [sighting, sighting], together)).toEqual({
          outcome: 'live',
          doubt,
        });
      },
    );

    it('is plainly live for an open payout, however few were asked', () => {
      const open = aSighting({ finalised: aBlock(8, 999) });
      expect(payoutEvidence(terms, [open], together)).toEqual({ outcome: 'live' });
    });
  });
});
