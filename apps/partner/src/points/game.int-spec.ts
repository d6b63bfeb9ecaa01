/** The books of the reference partner, on two replicas. The conformance tester tries every rule (test/conformance). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import {
  aClaim,
  aDeduction,
  anUnknownId,
  aPlayer,
  aRedemptionId,
  aReversal,
  type Booking,
  call,
  confirm,
  deduct,
  expectRefused,
  type Partner,
  pointsOf,
  revert,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
let replica: Partner;
/** A deduction of 300 points from a player who had 1000. */
let booking: Booking;
let partnerTransactionId: string;
beforeAll(async () => {
  partner = await startPartner();
  replica = await startPartner({}, { test: partner.test, clock: partner.clock });
});
beforeEach(async () => {
  ({ booking, partnerTransactionId } = await aDeduction(partner));
  partner.logs.length = 0;
});
afterAll(async () => {
  await replica.stop();
  await partner.stop();
});

function expectContradiction(): void {
  const warnings = partner.logs.filter((line) => line.includes('A call contradicts the books'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(booking.svcRedemptionId);
}

describe('GET /get-points-by-address', () => {
  it('tells the points of the wallet, in whatever case it is asked for', async () => {
    const address = await aPlayer(partner, 0);
    const asked = `0x${address.slice(2).toUpperCase()}`;
    const answer = await call(partner, `/get-points-by-address?address=${asked}&more=1`);
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: {
        success: true,
        partnerUserId: expect.stringMatching(/^player_/),
        address,
        points: 0,
        chain: 'ethereum',
      },
    });
  });
});

describe('POST /deduct-points-by-address', () => {
  it('names the deduction to a repeated call, and takes nothing', async () => {
    const again = { ...booking, svcRedemptionId: booking.svcRedemptionId.toUpperCase() };
    for (const repeated of [booking, again]) {
      const answer = await deduct(partner, repeated);
      expectRefused(answer, 'ERR-DUPLICATE-REQUEST', { partnerTransactionId });
    }
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });

  it('names no deduction to other terms, nor one that was reverted: it could be paid for', async () => {
    const address = await aPlayer(partner, 1000);
    for (const other of [{ address }, { deductPoints: 299 }, { address: '0x' + '0'.repeat(40) }]) {
      const answer = await call(partner, '/deduct-points-by-address', { ...booking, ...other });
      expectRefused(answer, 'ERR-DUPLICATE-REQUEST');
    }
    expect(await pointsOf(partner, address)).toBe(1000);
    expect((await revert(partner, booking)).body['success']).toBe(true);
    expectRefused(await deduct(partner, booking), 'ERR-DUPLICATE-REQUEST');
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('the table itself refuses points below zero', async () => {
    const text = 'UPDATE game.player SET points = points - 701 WHERE wallet = $1';
    await expect(partner.database.query({ text }, [booking.address])).rejects.toMatchObject({
      sqlState: '23514',
    });
  });
});

describe('POST /revert-deduct-points', () => {
  it('gives the points back once, under an id of its own, and keeps the reason', async () => {
    const reason = 'Timeout: the redemption was not claimed';
    const both = { ...booking, partnerTransactionId, revertReason: reason };
    const { body } = await revert(partner, both);
    const partnerRevertId = expect.stringMatching(/^prv_/) as unknown;
    expect(body).toEqual({ success: true, partnerTransactionId, partnerRevertId });
    const text = 'SELECT reason FROM game.revert WHERE svc_redemption_id = $1';
    expect(await partner.database.query({ text }, [booking.svcRedemptionId])).toEqual([{ reason }]);
    const ids = { partnerTransactionId, partnerRevertId: body['partnerRevertId'] };
    for (const more of [{}, { partnerTransactionId }, { deductPoints: 1 }]) {
      const answer = await revert(partner, { ...booking, ...more });
      expectRefused(answer, 'ERR-ALREADY-REVERTED', ids);
    }
    expect(await pointsOf(partner, booking.address)).toBe(1000);
  });

  it('refuses ids that do not name one deduction, and touches none', async () => {
    const other = await aDeduction(partner);
    for (const ids of [
      { partnerTransactionId: other.partnerTransactionId },
      { partnerTransactionId: anUnknownId() },
      { partnerTransactionId, svcRedemptionId: aRedemptionId() },
    ]) {
      const answer = await revert(partner, { ...booking, ...ids });
      expectRefused(answer, 'ERR-TRANSACTION-NOT-FOUND');
    }
    expect(await pointsOf(partner, booking.address)).toBe(700);
    expect(await pointsOf(partner, other.booking.address)).toBe(700);
    // The refusal left no tombstone: the deduction stands and can still be reverted.
    expect((await revert(partner, booking)).body['success']).toBe(true);
  });

  it('does not say "not found" of a deduction that stands, only because the wallet is another', async () => {
    const address = await aPlayer(partner, 0);
    const answer = await revert(partner, { ...booking, address });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toBe('address is not that of the deduction.');
    expect(await pointsOf(partner, address)).toBe(0);
    expectContradiction();
  });

  it('gives no points back whose redemption was confirmed as claimed', async () => {
    expect((await confirm(partner, aClaim(booking))).body).toEqual({ success: true });
    const answer = await revert(partner, booking);
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toContain('confirmed as claimed');
    expectContradiction();
    expect(await pointsOf(partner, booking.address)).toBe(700);
  });
});

describe('POST /confirm-redemption', () => {
  const stored = (): Promise<unknown[]> => {
    const text = 'SELECT status, payload FROM game.confirmation WHERE svc_redemption_id = $1';
    return partner.database.query({ text }, [booking.svcRedemptionId]);
  };

  it('stores a claim once, however often it comes and at once', async () => {
    const claim = aClaim(booking);
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(partner, claim)));
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    }
    expect(await stored()).toEqual([{ status: 'claimed', payload: claim }]);
    // Another one is refused, and the first is kept.
    const other = { ...claim, txnHash: `0x${'cd'.repeat(32)}` };
    expectRefused(await confirm(partner, other), 'ERR-INTERNAL');
    expectContradiction();
    expect(await stored()).toEqual([{ status: 'claimed', payload: claim }]);
  });

  it('stores that points went back', async () => {
    await revert(partner, booking);
    const reversal = aReversal(booking);
    expect((await confirm(partner, reversal)).body).toEqual({ success: true });
    expect(await stored()).toEqual([{ status: 'reverted', payload: reversal }]);
  });

  it('finds no redemption of which only a tombstone is left', async () => {
    const late = { ...booking, svcRedemptionId: aRedemptionId() };
    expectRefused(await confirm(partner, aClaim(late)), 'ERR-REDEMPTION-NOT-FOUND');
    expectRefused(await revert(partner, late), 'ERR-TRANSACTION-NOT-FOUND');
    expectRefused(await confirm(partner, aClaim(late)), 'ERR-REDEMPTION-NOT-FOUND');
  });

  it.each<[string, string, () => object | Promise<object>]>([
    ['a reversal whose deduction stands', 'ERR-INTERNAL', () => aReversal(booking)],
    [
      'a claim whose points were given back',
      'ERR-ALREADY-REVERTED',
      async () => {
        await revert(partner, booking);
        return aClaim(booking);
      },
    ],
    [
      'another amount than was deducted',
      'ERR-INVALID-AMOUNT',
      () => ({ ...aClaim(booking), deductPoints: 299 }),
    ],
    [
      'another wallet than was deducted from',
      'ERR-INTERNAL',
      () => ({ ...aClaim(booking), address: `0x${'1'.repeat(40)}` }),
    ],
  ])('refuses and logs %s', async (_, code, confirmation) => {
    expectRefused(await confirm(partner, await confirmation()), code);
    expectContradiction();
    expect(await stored()).toEqual([]);
  });

  it('waits for a revert that is under way, and then refuses the claim', async () => {
    const waiting = async (count: number): Promise<void> => {
      const text = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await partner.database.query({ text })).length < count);
    };
    const blocker = await partner.database.pool.connect();
    await blocker.query('BEGIN');
    const lock = 'SELECT 1 FROM game.player WHERE wallet = $1 FOR UPDATE';
    await blocker.query(lock, [booking.address]);
    const reverting = revert(partner, booking);
    await waiting(1);
    const confirming = confirm(partner, aClaim(booking));
    await waiting(2);
    await blocker.query('COMMIT');
    blocker.release();
    expect((await reverting).body['success']).toBe(true);
    expectRefused(await confirming, 'ERR-ALREADY-REVERTED');
    expect(await stored()).toEqual([]);
  });

  it.each([
    ['txnConfirmed must be true where claimed', aClaim, { txnConfirmed: false }],
    ['txnHash must be given where claimed', aClaim, { txnHash: null }],
    ['claimedAt must be a time where claimed', aClaim, { claimedAt: null }],
    ['revertedAt must be null where claimed', aClaim, { revertedAt: '2026-11-20T07:30:00.000Z' }],
    ['claimedAt must be null', aReversal, { claimedAt: '2026-11-20T07:30:00.000Z' }],
    ['revertedAt must be a time', aReversal, { revertedAt: null }],
  ])('refuses a confirmation whose fields do not fit: %s', async (message, of, wrong) => {
    const answer = await confirm(partner, { ...of(booking), ...wrong });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toContain(message);
    expect(await stored()).toEqual([]);
  });
});

const START = 100;
const PLAYERS = 2;
const REDEMPTIONS = 4;

/** A call for one of a few redemptions, so that calls meet. The redemption's number determines its terms. */
interface Step {
  readonly kind: 'deduct' | 'revert';
  readonly redemption: number;
  /** Whether the second replica is called. */
  readonly there: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('deduct' as const, 'revert' as const),
  redemption: fc.nat(REDEMPTIONS - 1),
  there: fc.boolean(),
});

interface Table {
  readonly wallets: readonly Address[];
  readonly bookings: readonly Booking[];
}

async function aTable(): Promise<Table> {
  const wallets = await Promise.all(Array.from({ length: PLAYERS }, () => aPlayer(partner, START)));
  const bookings = Array.from({ length: REDEMPTIONS }, (_, i) => ({
    address: wallets[i % PLAYERS] ?? ('' as Address),
    deductPoints: 20 + 25 * i,
    svcRedemptionId: aRedemptionId(),
  }));
  return { wallets, bookings };
}

/** Makes the call. @returns `done`, or the error code */
async function play({ bookings }: Table, { kind, redemption, there }: Step): Promise<string> {
  const booking = bookings[redemption];
  if (booking === undefined) throw new Error('no such redemption');
  const target = there ? replica : partner;
  const { body } = await (kind === 'deduct' ? deduct : revert)(target, booking);
  return body['success'] === true ? 'done' : String(body['errorCode']);
}

const balances = ({ wallets }: Table): Promise<unknown[]> =>
  Promise.all(wallets.map((wallet) => pointsOf(partner, wallet)));

/** A model of the game, for one call after the other. */
class Model {
  readonly points: number[] = Array<number>(PLAYERS).fill(START);
  readonly states = new Map<number, 'deducted' | 'reverted' | 'buried'>();

  play({ kind, redemption }: Step, { deductPoints }: Booking): string {
    const state = this.states.get(redemption);
    const player = redemption % PLAYERS;
    const has = this.points[player] ?? 0;
    if (kind === 'deduct') {
      if (state !== undefined) return 'ERR-DUPLICATE-REQUEST';
      if (has < deductPoints) return 'ERR-INSUFFICIENT-POINTS';
      this.points[player] = has - deductPoints;
      this.states.set(redemption, 'deducted');
      return 'done';
    }
    if (state === 'reverted') return 'ERR-ALREADY-REVERTED';
    if (state === 'deducted') {
      this.points[player] = has + deductPoints;
      this.states.set(redemption, 'reverted');
      return 'done';
    }
    this.states.set(redemption, 'buried');
    return 'ERR-TRANSACTION-NOT-FOUND';
  }
}

describe('deductions and reverts in any order', () => {
  it('one after the other: every answer and every balance is the model’s', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const table = await aTable();
        const model = new Model();
        for (const one of steps) {
          const booking = table.bookings[one.redemption];
          if (booking === undefined) throw new Error('no such redemption');
          expect(await play(table, one)).toBe(model.play(one, booking));
        }
        expect(await balances(table)).toEqual(model.points);
      }),
      { numRuns: 40 },
    );
  });

  it('all at once, at two replicas: at most one deduction and one revert each, and points exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 16 }), async (steps) => {
        const table = await aTable();
        const results = await Promise.all(steps.map((one) => play(table, one)));
        const expected = Array<number>(PLAYERS).fill(START);
        table.bookings.forEach(({ deductPoints }, redemption) => {
          const count = (kind: Step['kind'], result: string): number =>
            steps.filter(
              (one, i) =>
                one.redemption === redemption && one.kind === kind && results[i] === result,
            ).length;
          const deducted = count('deduct', 'done');
          const reverted = count('revert', 'done');
          expect(deducted).toBeLessThanOrEqual(1);
          expect(reverted).toBeLessThanOrEqual(deducted);
          // A deduction that a revert did not find was not there, and did not arrive afterwards.
          if (count('revert', 'ERR-TRANSACTION-NOT-FOUND') > 0) expect(deducted).toBe(0);
          if (count('revert', 'ERR-ALREADY-REVERTED') > 0) expect(reverted).toBe(1);
          if (count('deduct', 'ERR-DUPLICATE-REQUEST') > 0 && deducted === 0) {
            expect(count('revert', 'ERR-TRANSACTION-NOT-FOUND')).toBeGreaterThan(0);
          }
          const player = redemption % PLAYERS;
          expected[player] = (expected[player] ?? 0) - (deducted - reverted) * deductPoints;
        });
        expect(results).not.toContain('ERR-INTERNAL');
        expect(await balances(table)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
