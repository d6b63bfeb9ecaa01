import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Address,
  type BlockHash,
  type DeadEvidence,
  type OpenCall,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionReason,
  type RedemptionState,
  type RevertReason,
} from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { RedemptionStore } from '../index.js';
import { aKey, aNewRedemption, aUuid, PLACE, someLimits, someWallet } from './testing/builders.js';

let test: TestDatabase;
let store: RedemptionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new RedemptionStore(await test.open());
});
afterAll(() => test.drop());

const ms = fc.integer({ min: 1, max: 4_000_000_000_000 });
const maybeMs = fc.option(ms);
const count = fc.nat(1000);
// Possible ids of a partner: no control characters, no lone surrogates.
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((one) => one.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(one));
const uint256 = fc.bigInt(1n, 2n ** 256n - 1n);
const decimal = fc.record({ digits: fc.bigInt(1n, 10n ** 60n), scale: fc.nat(40) });
const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as BlockHash);
const block = fc.record({ number: fc.bigInt(0n, 2n ** 63n), hash, timestampSeconds: count });
const uuid = ms.map((at) => aUuid(at));
const deadEvidence: fc.Arbitrary<DeadEvidence> = fc.oneof(
  fc.record({
    outcome: fc.constant('dead' as const),
    reason: fc.constant('expired' as const),
    finalised: block,
  }),
  fc.record({
    outcome: fc.constant('dead' as const),
    reason: fc.constant('cancelled' as const),
    finalised: block,
    transactionHash: hash,
    block,
  }),
);
const target: fc.Arbitrary<OpenCall['target']> = fc.oneof(
  fc.record({ by: fc.constant('transaction' as const), transactionId: text }),
  fc.constant({ by: 'redemption' as const }),
  fc.record({ by: fc.constant('candidate' as const), transactionId: text }),
);

const terms = fc.record({
  points: fc.bigInt(1n, BigInt(Number.MAX_SAFE_INTEGER)),
  usdAmount: decimal,
  tokenAmount: uint256,
  tokenDecimals: fc.nat(255),
  priceUsd: decimal,
  quoteExpiresAtMs: ms,
});

/** The fields that do not follow from the state. */
const loose = fc.record({
  reason: fc.option(fc.constantFrom<RedemptionReason>('user-cancelled', 'amount-disputed')),
  revertReason: fc.option(fc.constantFrom<RevertReason>('claim-timeout', 'deduction-unknown')),
  exposure: fc.constant('possible' as const),
  unprovenAttempts: count,
  partnerRevertId: fc.option(text),
  candidateTransactionIds: fc.array(text, { maxLength: 5 }),
  redemptionIdRefuted: fc.boolean(),
  attempts: fc.record({ deduct: count, payout: count, revert: count }),
  firstDeductAtMs: maybeMs,
  lastDeductAtMs: maybeMs,
  firstRevertAtMs: maybeMs,
  firstNotFoundAtMs: maybeMs,
  stateSinceMs: ms,
  pendingAtMs: ms,
});

const parts = fc.record({
  terms,
  loose,
  state: fc.constantFrom(...REDEMPTION_STATES),
  resume: fc.constantFrom('authorised' as const, 'reverting' as const),
  transactionId: text,
  withPlan: fc.boolean(),
  withCall: fc.boolean(),
  deadlineSeconds: fc.nat(),
  deadEvidence,
  requestId: uuid,
  target,
  finalised: block,
  claim: fc.record({ transactionHash: hash, block }),
  times: fc.record({ next: ms, deducted: ms, authorised: ms, end: ms }),
});
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

const PAYING: readonly RedemptionState[] = ['authorised', 'claimed'];
const AFTER: readonly RedemptionState[] = ['reverting', 'reverted', 'attention'];

/** Adds the fields that the state determines, so that the database accepts the whole redemption. */
function dressed(first: Redemption, all: Parts): Redemption {
  const { state, times } = all;
  const isPlanned = PAYING.includes(state) || (AFTER.includes(state) && all.withPlan);
  const isDeducted = state === 'deducted' || isPlanned;
  const isOver = state === 'claimed' || state === 'reverted' || state === 'failed';
  const { wallet: recipient, tokenAmount: amount } = first;
  const step = state === 'deducting' ? 'deduct' : 'revert';
  const calls = all.withCall && (state === 'deducting' || state === 'reverting');
  const call: OpenCall = { step, requestId: all.requestId, startedAtMs: times.next };
  return {
    ...first,
    ...all.loose,
    ...(state === 'failed' ? { unprovenAttempts: 0, exposure: 'none' } : {}),
    state,
    version: 2,
    resume: state === 'attention' ? all.resume : null,
    openCall: !calls
      ? null
      : step === 'deduct' || all.target === undefined
        ? call
        : { ...call, target: all.target },
    partnerTransactionId: isDeducted ? all.transactionId : null,
    plan: isPlanned ? { recipient, amount, deadlineSeconds: all.deadlineSeconds } : null,
    deadEvidence: isPlanned && AFTER.includes(state) ? all.deadEvidence : null,
    paidEvidence:
      state === 'claimed'
        ? { outcome: 'paid', finalised: all.finalised, ...all.claim, recipient, amount }
        : null,
    nextActionAtMs: isOver || state === 'attention' ? null : times.next,
    deductedAtMs: isDeducted ? times.deducted : null,
    authorisedAtMs: isPlanned ? times.authorised : null,
    claimedAtMs: state === 'claimed' ? times.end : null,
    revertedAtMs: state === 'reverted' ? times.end : null,
    failedAtMs: state === 'failed' ? times.end : null,
  };
}

describe('the stored redemption', () => {
  it('is the value that was written, field by field, for any value', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (all) => {
        const first = aNewRedemption({ ...all.terms, wallet: someWallet() });
        await store.create(first, aKey(), someLimits());
        expect(await store.get(first.id)).toEqual({ redemption: first, place: null });

        const next = dressed(first, { ...all, requestId: aUuid() });
        await store.apply({
          before: first,
          decision: {
            kind: 'moved',
            next,
            command: null,
          },
          event: 'any',
          actor: 'worker',
          place: PLACE,
        });
        const place = next.plan === null ? null : PLACE;
        expect(await store.get(first.id)).toEqual({ redemption: next, place });
      }),
      { numRuns: 200 },
    );
  });

  it('is listed newest first, page by page, to its wallet only', async () => {
    const wallet: Address = someWallet();
    const made = [1, 2, 3].map((day) => aNewRedemption({ wallet }, day * 86_400_000));
    for (const one of made) await store.create(one, aKey(), someLimits());
    const ids = made.map(({ id }) => id).reverse();
    const first = await store.list(wallet, 2);
    const second = await store.list(wallet, 2, first[1]?.redemption.id);
    expect([...first, ...second].map(({ redemption }) => redemption.id)).toEqual(ids);
    expect(await store.list(someWallet(), 10)).toEqual([]);
  });
});
