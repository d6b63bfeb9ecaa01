/** Complete values for the specs of this folder. */
import { type PartnerId } from '../../values/ids.js';
import { type Address } from '../../values/address.js';
import { type BlockHash, type BlockRef } from '../../values/block.js';
import { type TransitionContext } from '../decision.js';
import { type PayoutTerms } from '../payout-evidence.js';
import { PARTNER_CAPABILITIES } from '../partner-call.js';
import {
  type DeadEvidence,
  newRedemption,
  type OpenCall,
  type PaidEvidence,
  type Redemption,
  type RedemptionState,
} from '../redemption.js';
import { mintUuidV7, type UuidV7 } from '../uuid-v7.js';

/** 2026-03-01T12:00:00Z. */
export const START_MS = 1_772_366_400_000;
export const WALLET = `0x${'a1'.repeat(20)}` as Address;
const TOKEN = 10n ** 18n;

/** A different id for each number. */
export function aUuid(atMs: number, serial: number): UuidV7 {
  const random = Array.from({ length: 10 }, (_, index) => (serial >> (8 * (9 - index))) & 0xff);
  return mintUuidV7(atMs, Uint8Array.from(random));
}

export const CALL_ID = aUuid(START_MS, 1);

export function aBlock(timestampSeconds: number): BlockRef {
  const number = BigInt(timestampSeconds);
  const hash = `0x${number.toString(16).padStart(64, '0')}` as BlockHash;
  return { number, hash, timestampSeconds };
}

export function aPlan(change: Partial<PayoutTerms> = {}): PayoutTerms {
  return {
    recipient: WALLET,
    amount: 340n * TOKEN,
    deadlineSeconds: START_MS / 1000 + 1800,
    ...change,
  };
}

/** Evidence that a block after the deadline is final. */
export function anExpiry(afterDeadlineSeconds = 1): DeadEvidence {
  const finalised = aBlock(aPlan().deadlineSeconds + afterDeadlineSeconds);
  return { outcome: 'dead', reason: 'expired', finalised };
}

export function aClaim(change: Partial<PaidEvidence> = {}): PaidEvidence {
  const block = aBlock(aPlan().deadlineSeconds - 600);
  return {
    outcome: 'paid',
    finalised: aBlock(aPlan().deadlineSeconds),
    transactionHash: `0x${'c'.repeat(64)}`,
    block,
    recipient: aPlan().recipient,
    amount: aPlan().amount,
    ...change,
  };
}

export function aContext(change: Partial<TransitionContext> = {}): TransitionContext {
  return {
    nowMs: START_MS + 1000,
    jitter: 0,
    policy: { capabilities: PARTNER_CAPABILITIES, confirms: true },
    ...change,
  };
}

export function aCall(step: OpenCall['step'], change: Partial<OpenCall> = {}): OpenCall {
  const target =
    step === 'revert' ? { target: { by: 'transaction' as const, transactionId: 'tx-1' } } : {};
  return { step, requestId: CALL_ID, startedAtMs: START_MS, ...target, ...change };
}

const PENDING = {
  exposure: 'possible',
  attempts: { deduct: 1, payout: 0, revert: 0 },
  pendingAtMs: START_MS,
  firstDeductAtMs: START_MS,
  lastDeductAtMs: START_MS,
} as const satisfies Partial<Redemption>;
const DEDUCTED = {
  ...PENDING,
  unprovenAttempts: 1,
  partnerTransactionId: 'tx-1',
  deductedAtMs: START_MS,
} as const satisfies Partial<Redemption>;
const REVERTING = {
  ...DEDUCTED,
  attempts: { deduct: 1, payout: 0, revert: 1 },
  openCall: aCall('revert'),
  firstRevertAtMs: START_MS,
  revertReason: 'user-cancelled',
  reason: 'user-cancelled',
} as const satisfies Partial<Redemption>;
const DONE = { openCall: null, nextActionAtMs: null } as const;

/** A typical redemption in each state; `deducting` and `reverting` have an open call. */
const TYPICAL: Readonly<Record<RedemptionState, Partial<Redemption>>> = {
  created: {},
  deducting: { ...PENDING, unprovenAttempts: 1, openCall: aCall('deduct') },
  deducted: DEDUCTED,
  authorised: { ...DEDUCTED, plan: aPlan(), authorisedAtMs: START_MS },
  reverting: REVERTING,
  claimed: {
    ...DEDUCTED,
    ...DONE,
    plan: aPlan(),
    authorisedAtMs: START_MS,
    paidEvidence: aClaim(),
    claimedAtMs: aClaim().block.timestampSeconds * 1000,
  },
  reverted: { ...REVERTING, ...DONE, partnerRevertId: 'rev-1', revertedAtMs: START_MS + 5000 },
  failed: { ...DONE, reason: 'user-cancelled', failedAtMs: START_MS },
  attention: { ...REVERTING, ...DONE, resume: 'reverting', reason: 'revert-exhausted' },
};

export function aRedemption(state: RedemptionState, change: Partial<Redemption> = {}): Redemption {
  const terms = {
    id: aUuid(START_MS, 0),
    partner: '3e6f0d9a-0000-4000-8000-000000000001' as PartnerId,
    wallet: WALLET,
    points: 5000n,
    usdAmount: { digits: 5000n, scale: 2 },
    tokenAmount: 340n * TOKEN,
    tokenDecimals: 18,
    priceUsd: { digits: 15n, scale: 2 },
    quoteExpiresAtMs: START_MS + 60_000,
  };
  return { ...newRedemption(terms, START_MS), ...TYPICAL[state], state, ...change };
}
