/** The database can store every decision of the domain: it refuses nothing that the state machine allows. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  PARTNER_CAPABILITIES,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionEvent,
  transition,
} from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { RedemptionStore, RedemptionViews } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  expiryOf,
  noteRestored,
  PLACE,
  planOf,
  someLimits,
  START_MS,
} from './testing/builders.js';

let test: TestDatabase;
let store: RedemptionStore;
let views: RedemptionViews;
beforeAll(async () => {
  test = await createTestDatabase();
  const database = await test.open();
  store = new RedemptionStore(database);
  views = new RedemptionViews(database);
  await noteRestored(database, {
    atMs: START_MS,
    lostSinceMs: START_MS - 60_000,
    vouchersUntilSeconds: LOST_UNTIL_SECONDS,
  });
});
afterAll(() => test.drop());

/** All events; the domain refuses those that do not fit. */
function eventsFor(redemption: Redemption): RedemptionEvent[] {
  const requestId = redemption.openCall?.requestId ?? aUuid();
  const redemptionId = redemption.id;
  const plan = {
    ...planOf(redemption),
    ...redemption.plan,
    deadlineSeconds: START_MS / 1000 + 90 * 86_400,
  };
  return [
    { type: 'balance-refused', code: 'ERR-USER-NOT-FOUND' },
    { type: 'balance-unknown', reason: 'timeout' },
    { type: 'call-due', requestId: aUuid() },
    { type: 'call-due', requestId: aUuid(), neverPaid: expiryOf(redemption) },
    { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-1' },
    { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-1' },
    { type: 'deduct-id-reused', requestId },
    { type: 'deduct-refused', requestId, code: 'ERR-USER-NOT-FOUND' },
    { type: 'deduct-duplicate', requestId },
    { type: 'deduct-unknown', requestId, reason: 'timeout', candidateTransactionId: 'maybe' },
    { type: 'deduct-not-sent', requestId },
    { type: 'plan-committed', plan },
    { type: 'plan-committed', plan },
    { type: 'plan-failed' },
    { type: 'payout-live', recheckMs: 5000 },
    { type: 'payout-paid', redemptionId, evidence: claimOf(redemption) },
    {
      type: 'payout-dead',
      redemptionId,
      evidence: { ...expiryOf(redemption), ...cancellationOf(redemption) },
    },
    { type: 'revert-confirmed', requestId, partnerTransactionId: 'tx-1', partnerRevertId: 'r-1' },
    { type: 'revert-already', requestId },
    { type: 'revert-not-found', requestId },
    { type: 'revert-amount-disputed', requestId },
    { type: 'revert-not-sent', requestId },
    { type: 'revert-unknown', requestId, reason: 'reset' },
    { type: 'cancel', by: 'user' },
    { type: 'operator-retry' },
    { type: 'operator-set-transaction', partnerTransactionId: 'tx-2' },
    { type: 'operator-restored' },
    { type: 'operator-not-deducted' },
    { type: 'operator-settled' },
  ];
}

function cancellationOf(redemption: Redemption) {
  const { transactionHash, block } = claimOf(redemption);
  return { reason: 'cancelled', transactionHash, block } as const;
}

/** Before the final block of the evidence. */
const LOST_UNTIL_SECONDS = START_MS / 1000 + 1700;

const steps = fc.array(
  fc.record({ pick: fc.nat(1000), waitMs: fc.constantFrom(1000, 60_000, 86_400_000) }),
  { minLength: 10, maxLength: 25 },
);

describe('a walk through the state machine', () => {
  it('is stored step by step, and reloads as the value that was decided', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.subarray([...PARTNER_CAPABILITIES]),
        fc.boolean(),
        async (walk, capabilities, isForgotten) => {
          let nowMs = START_MS - (isForgotten ? 1000 : 0);
          const lostVoucherUntilSeconds = isForgotten ? LOST_UNTIL_SECONDS : null;
          const change = { quoteExpiresAtMs: START_MS + 61_000, lostVoucherUntilSeconds };
          let before = aNewRedemption(change, nowMs);
          await store.create(before, aKey(), someLimits());
          for (const { pick, waitMs } of walk) {
            nowMs += waitMs;
            const context = { nowMs, jitter: 0, policy: { capabilities, confirms: true } };
            const possible = eventsFor(before).flatMap((event) => {
              const decision = transition(before, event, context);
              return decision.kind === 'moved' ? [{ event, decision }] : [];
            });
            const chosen = possible[pick % Math.max(1, possible.length)];
            if (chosen === undefined) break;
            const { decision, event } = chosen;
            const write = { before, decision, event: event.type, actor: 'worker', place: PLACE };
            await store.apply(write);
            before = decision.next;
            seen.add(before.state);
            expect((await store.get(before.id))?.redemption).toEqual(before);
          }
          const owed = before.state === 'claimed' || before.state === 'reverted';
          const history = await views.show(before.id);
          expect(history?.confirmation !== null).toBe(owed);
          expect(history?.transitions).toHaveLength(before.version);
        },
      ),
      { numRuns: 300 },
    );
    expect([...seen].sort()).toEqual([...REDEMPTION_STATES].sort());
  });
});
