/**
 * The books of the reference partner, on two replicas, and what it lets in. The conformance tester tries every rule
 * (test/console).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import {
  aClaim,
  aDeduction,
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
  type Answer,
  API_KEY,
  aRequestId,
  type CallOptions,
  NOON_MS,
  SECRET,
  sendRaw,
} from '../testing/partner-harness.support.js';
import { hmacSha256Hex } from '#libs/signing';
import { exchange } from '#libs/testing/wire';

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

describe('POST /deduct-points-by-address', () => {
  it('names no deduction that was reverted: it could be paid for', async () => {
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

  it('does not say "not found" of a deduction that stands, only because the wallet is another', async () => {
    const address = await aPlayer(partner, 0);
    const answer = await revert(partner, { ...booking, address });
    expectRefused(answer, 'ERR-INTERNAL');
    expect(answer.body['errorMessage']).toBe('address is not that of the deduction.');
    expect(await pointsOf(partner, address)).toBe(0);
    expectContradiction();
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

  it('finds no redemption of which only a tombstone is left', async () => {
    const late = { ...booking, svcRedemptionId: aRedemptionId() };
    expectRefused(await confirm(partner, aClaim(late)), 'ERR-REDEMPTION-NOT-FOUND');
    expectRefused(await revert(partner, late), 'ERR-TRANSACTION-NOT-FOUND');
    expectRefused(await confirm(partner, aClaim(late)), 'ERR-REDEMPTION-NOT-FOUND');
  });

  it.each<[string, string, () => object]>([
    ['a reversal whose deduction stands', 'ERR-INTERNAL', () => aReversal(booking)],
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
    expectRefused(await confirm(partner, confirmation()), code);
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

describe('the way in', () => {
  let wallet: Address;
  beforeAll(async () => {
    wallet = await aPlayer(partner, 100);
  });

  const READ = '/get-points-by-address';
  const read = (options: CallOptions = {}): Promise<Answer> =>
    call(partner, `${READ}?address=${wallet}`, undefined, options);

  describe('X-API-KEY', () => {
    it.each([
      ['a beginning', API_KEY.slice(0, -1)],
      ['longer', `${API_KEY}0`],
      ['in capitals', API_KEY.toUpperCase()],
      ['given twice', [API_KEY, API_KEY]],
      ['beyond ASCII', 'é'.repeat(25)],
    ])('refuses one that is %s', async (_, key) => {
      expectRefused(await read({ headers: { 'x-api-key': key } }), 'ERR-AUTH-FAILED');
    });
  });

  describe('X-API-SIGNATURE', () => {
    it('is over method, path, id and body: none can be changed', async () => {
      const id = aRequestId(NOON_MS);
      const signed = (content: string | string[]): { 'x-api-signature': string | string[] } => ({
        'x-api-signature': Array.isArray(content) ? content : hmacSha256Hex(SECRET, content),
      });
      for (const content of [
        `POST${READ}${id}`,
        `GET${READ}/${id}`,
        `GET${READ}?address=${wallet}${id}`,
        `GET${READ}${aRequestId(NOON_MS)}`,
        `GET${READ}${id}{}`,
        `GET/game/v1${READ}${id}`,
        ['a'.repeat(64), 'a'.repeat(64)],
      ]) {
        const answer = await read({ requestId: id, headers: signed(content) });
        expectRefused(answer, 'ERR-AUTH-FAILED');
      }
      // None of them has used up the id.
      const kept = await read({ requestId: id, headers: signed(`GET${READ}${id}`) });
      expect(kept.body).toMatchObject({ success: true, points: 100 });
    });

    it('covers the base path', async () => {
      const game = await startPartner({ PARTNER_BASE_PATH: '/game/v1' }, partner);
      const id = aRequestId(NOON_MS);
      const path = `/game/v1${READ}?address=${wallet}`;
      expect((await call(game, path)).body['points']).toBe(100);
      const without = { 'x-api-signature': hmacSha256Hex(SECRET, `GET${READ}${id}`) };
      const answer = await call(game, path, undefined, { requestId: id, headers: without });
      expectRefused(answer, 'ERR-AUTH-FAILED');
      expect((await call(game, `${READ}?address=${wallet}`)).status).toBe(404);
      await game.stop();
    });
  });

  describe('X-API-REQUEST', () => {
    it('refuses a replay, in whatever case, also at another replica', async () => {
      const requestId = aRequestId(NOON_MS);
      expect((await read({ requestId })).body['success']).toBe(true);
      expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
      expectRefused(await read({ requestId: requestId.toUpperCase() }), 'ERR-AUTH-FAILED');
      const replica = await startPartner({}, partner);
      const path = `${READ}?address=${wallet}`;
      expectRefused(await call(replica, path, undefined, { requestId }), 'ERR-AUTH-FAILED');
      expect((await call(replica, path)).body['success']).toBe(true);
      await replica.stop();
    });

    it('takes one of ten copies that come at once', async () => {
      const requestId = aRequestId(NOON_MS);
      const answers = await Promise.all(Array.from({ length: 10 }, () => read({ requestId })));
      expect(answers.filter(({ body }) => body['success'] === true)).toHaveLength(1);
    });

    it('is remembered as long as it could pass for fresh, and then forgotten', async () => {
      const requestId = aRequestId(NOON_MS + 300_000);
      expect((await read({ requestId })).body['success']).toBe(true);
      partner.clock.set(NOON_MS + 600_000);
      // Any call deletes the ids that are too old.
      await read();
      const replayed = await read({ requestId });
      expectRefused(replayed, 'ERR-AUTH-FAILED');
      expect(replayed.body['errorMessage']).toBe('X-API-REQUEST was used before.');
      partner.clock.set(NOON_MS + 600_001);
      await partner.database.query({
        text: `DELETE FROM game.seen_request WHERE request_id <> '${requestId}'`,
      });
      await read();
      const text = 'SELECT 1 FROM game.seen_request WHERE request_id = $1';
      expect(await partner.database.query({ text }, [requestId])).toEqual([]);
      expectRefused(await read({ requestId }), 'ERR-AUTH-FAILED');
      partner.clock.set(NOON_MS);
    });
  });

  describe('X-Request-Id', () => {
    const lastLine = (): unknown => JSON.parse(partner.logs.at(-1) ?? '{}');

    it('is in the answer, and in the log beside the id of the call', async () => {
      const headers = { 'x-request-id': 'mine-1', 'x-api-signature': 'ab' };
      const answer = await read({ headers });
      expectRefused(answer, 'ERR-AUTH-FAILED');
      expect(answer.headers['x-request-id']).toBe('mine-1');
      expect(lastLine()).toMatchObject({ msg: 'A call was refused', requestId: 'mine-1' });
    });
  });

  describe('what is not one of the four endpoints', () => {
    it.each([
      ['GET', '/'],
      ['HEAD', '/nothing'],
      ['OPTIONS', '/deduct-points-by-address'],
      ['GET', '/%zz'],
      ['GET', '/%c0%af?x=%zz'],
      ['GET', '//get-points-by-address'],
      ['PROPFIND', '/x'],
    ])('%s %s is a signed 404', async (method, path) => {
      const answer = await sendRaw(partner.port, {
        method,
        path,
        headers: { 'x-api-key': API_KEY },
      });
      expect(answer.status).toBe(404);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      if (method === 'HEAD') return;
      expect(answer.body).toEqual({
        success: false,
        errorCode: 'ERR-INTERNAL',
        errorMessage: 'There is no such endpoint.',
      });
    });

    it.each([
      'rubbish\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
    ])('what is not HTTP gets no answer, so no unsigned one: %.30j', async (bytes) => {
      expect(await exchange(partner.port, [bytes])).toEqual([]);
    });

    it.each([
      'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
      'POST /x HTTP/1.1\r\nHost: a\r\nExpect: something\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    ])('what Node would answer by itself is signed: %.30j', async (bytes) => {
      const signature = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
      expect(await exchange(partner.port, [bytes])).toMatchObject([
        { status: 404, headers: { 'x-api-signature': signature } },
      ]);
    });
  });
});
