/** Complete values for the specs of this folder. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  type Address,
  type BlockHash,
  type BlockRef,
  type DeadEvidence,
  mintUuidV7,
  newRedemption,
  type PaidEvidence,
  PARTNER_CAPABILITIES,
  type PartnerId,
  type PayoutPlace,
  type PayoutTerms,
  type Redemption,
  type RedemptionEvent,
  type RedemptionLimits,
  transition,
  type UuidV7,
} from '#libs/domain';
import {
  type Database,
  type IdempotencyKey,
  type LedgerRestore,
  type TransitionWrite,
} from '../../index.js';

/** 2026-03-01T12:00:00Z. */
export const START_MS = 1_772_366_400_000;

export function aUuid(atMs = START_MS): UuidV7 {
  return mintUuidV7(atMs, randomBytes(10));
}

/** A new random address at each call. */
export function someWallet(): Address {
  return `0x${randomBytes(20).toString('hex')}` as Address;
}

export function aNewRedemption(change: Partial<Redemption> = {}, nowMs = START_MS): Redemption {
  const terms = {
    id: aUuid(nowMs),
    partner: randomUUID() as PartnerId,
    wallet: someWallet(),
    points: 5000n,
    usdAmount: { digits: 5000n, scale: 2 },
    tokenAmount: 340n * 10n ** 18n,
    tokenDecimals: 18,
    priceUsd: { digits: 15n, scale: 2 },
    quoteExpiresAtMs: nowMs + 60_000,
  };
  return { ...newRedemption(terms, nowMs), ...change };
}

export function aKey(change: Partial<IdempotencyKey> = {}): IdempotencyKey {
  return { key: randomUUID(), bodyHash: Buffer.alloc(32, 1), ...change };
}

export function someLimits(change: Partial<RedemptionLimits> = {}): RedemptionLimits {
  return { paused: false, maxOpen: 1, priceMaxAgeSeconds: 7200, ...change };
}

export const PLACE: PayoutPlace = {
  vault: `0x${'7a'.repeat(20)}` as Address,
  chainId: 31_337,
  fromBlock: 12n,
};

export function aBlock(timestampSeconds: number): BlockRef {
  const number = BigInt(timestampSeconds);
  const hash = `0x${number.toString(16).padStart(64, '0')}` as BlockHash;
  return { number, hash, timestampSeconds };
}

export function planOf({ wallet, tokenAmount }: Redemption): PayoutTerms {
  return { recipient: wallet, amount: tokenAmount, deadlineSeconds: START_MS / 1000 + 1800 };
}

export function claimOf(redemption: Redemption): PaidEvidence {
  const { recipient, amount, deadlineSeconds } = planOf(redemption);
  return {
    outcome: 'paid',
    finalised: aBlock(deadlineSeconds),
    transactionHash: `0x${'c'.repeat(64)}`,
    block: aBlock(deadlineSeconds - 600),
    recipient,
    amount,
  };
}

export function expiryOf(redemption: Redemption): DeadEvidence {
  const finalised = aBlock(planOf(redemption).deadlineSeconds + 1);
  return { outcome: 'dead', reason: 'expired', finalised };
}

/** The domain's decision on an event, as a write. Throws where the domain refuses the event. */
export function decided(
  before: Redemption,
  event: RedemptionEvent,
  change: Partial<TransitionWrite> = {},
): TransitionWrite {
  const decision = transition(before, event, {
    nowMs: START_MS + before.version * 1000,
    jitter: 0,
    policy: { capabilities: PARTNER_CAPABILITIES, confirms: true },
  });
  if (decision.kind === 'refused') throw new Error(`${event.type}: ${decision.message}`);
  const place = event.type === 'plan-committed' ? { place: PLACE } : {};
  return { before, decision, event: event.type, actor: 'worker', ...place, ...change };
}

/** Inserts a note into the table, of a moment that is long past by the database's clock. */
export async function noteRestored(database: Database, note: LedgerRestore): Promise<void> {
  const { atMs, lostSinceMs, vouchersUntilSeconds } = note;
  await database.query(
    {
      text: `INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor) VALUES ($1, $2, $3, 'test')`,
    },
    [new Date(atMs), new Date(lostSinceMs), vouchersUntilSeconds],
  );
}
