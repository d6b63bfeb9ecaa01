import { type PoolClient } from 'pg';
import {
  COOL_DOWN_MEMORY_DAYS,
  coolDownBreach,
  mintUuidV7,
  type Redemption,
  type RedemptionLimits,
  SECONDS_PER_DAY,
  UUID_V7_RANDOM_BYTES,
  type UnclaimedVouchers,
} from '#libs/domain';
import { type Statement } from '../connection/database.js';
import { run } from '../connection/statement.js';
import { LimitBreachedError } from './redemption.error.js';
import { addressBytes, at } from './redemption-row.js';

/** Vouchers of one wallet that can never be claimed. */
export interface UnclaimedOfWallet extends UnclaimedVouchers {
  /** Of those that began on the UTC day of the new redemption and count in no other sum, in the smallest unit. */
  readonly tokensToday: bigint;
}

interface UnclaimedRow {
  count: number;
  last_ended_at: Date | null;
  tokens_today: string;
}

const DAY_MS = SECONDS_PER_DAY * 1000;

/**
 * $1 wallet, $2 the first id that is remembered, $3 $4 the UTC day, half-open. Ids of version 7 sort by time, so that the index of a
 * wallet's redemptions serves.
 */
const UNCLAIMED: Statement = {
  name: 'redemption_unclaimed',
  text: `SELECT count(*)::int AS count, max(coalesce(reverted_at, failed_at, state_since_at)) AS last_ended_at,
      coalesce(sum(token_amount) FILTER (WHERE state IN ('reverted', 'failed') AND initial_at >= $3 AND initial_at < $4), 0)::text
        AS tokens_today
    FROM redemption.redemption
    WHERE wallet = $1 AND id >= $2::uuid AND authorised_at IS NOT NULL
      AND (state IN ('reverted', 'failed') OR dead_evidence IS NOT NULL)`,
};

/** What the wallet of a new redemption has let expire or cancelled. Read under the wallet's lock. */
export async function unclaimedVouchers(
  client: PoolClient,
  { wallet, initialAtMs }: Redemption,
): Promise<UnclaimedOfWallet> {
  const dayMs = Math.floor(initialAtMs / DAY_MS) * DAY_MS;
  const sinceMs = initialAtMs - COOL_DOWN_MEMORY_DAYS * DAY_MS;
  const [row] = await run<UnclaimedRow>(client, UNCLAIMED, [
    addressBytes(wallet),
    mintUuidV7(Math.max(0, sinceMs), new Uint8Array(UUID_V7_RANDOM_BYTES)),
    at(dayMs),
    at(dayMs + DAY_MS),
  ]);
  return {
    count: row?.count ?? 0,
    lastEndedAtMs: row?.last_ended_at?.getTime(),
    tokensToday: BigInt(row?.tokens_today ?? 0),
  };
}

/** @throws LimitBreachedError VOUCHER_COOL_DOWN, which says until when */
export function refuseCoolingDown(
  unclaimed: UnclaimedVouchers,
  { initialAtMs }: Redemption,
  { coolDown }: RedemptionLimits,
): void {
  const breach = coolDown && coolDownBreach(unclaimed, coolDown, initialAtMs);
  if (breach !== undefined) throw new LimitBreachedError(breach);
}
