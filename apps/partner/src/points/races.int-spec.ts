import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import {
  aPlayer,
  aRedemptionId,
  type Booking,
  deduct,
  type Partner,
  pointsOf,
  revert,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
let replica: Partner;
beforeAll(async () => {
  partner = await startPartner();
  replica = await startPartner({}, { test: partner.test, clock: partner.clock });
});
afterAll(async () => {
  await replica.stop();
  await partner.stop();
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
