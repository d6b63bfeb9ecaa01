import { type PoolClient } from 'pg';
import { type BlockRef, dayOf, SECONDS_PER_DAY } from '#libs/domain';
import { named } from '../connection/named.js';
import { hexOf } from '../connection/rows.js';
import { IndexMissingError } from './index-state.js';

export interface RollbackResult {
  readonly changes: number;
  readonly wallets: number;
  /** Sum of all balances after the rollback. */
  readonly total: bigint;
}

/**
 * Removes the balance changes above `:block` and repairs the day rows of the wallets concerned. `:day` is the day of
 * the block, `:midnight` its first second.
 *
 * Days after `:day` had changes above the block only, and days before it had none. So one day per wallet is calculated
 * again, by the rules of BalanceDay:
 * - `held` has the changes that stay in the day, each until the next one; a change that was followed by another in the
 *   same second was never held;
 * - `low` is the lowest of the balances that ended within the day. Unless the first change is at exactly 00:00:00, the
 *   balance carried in is one of them (0 before a wallet's first change).
 *
 * All parts read the tables as they were before the statement, hence `block <= :block` throughout. The
 * result is one row: the numbers of changes and wallets, the sum of the balances that were lost and the sum
 * of those that are valid again.
 */
const UNDO_CHANGES = named<{ block: bigint; day: number; midnight: number }>(
  'rollback_changes',
  `WITH removed AS (
      DELETE FROM staking.balance_change WHERE block > :block RETURNING wallet, block, balance
    ), affected AS (
      SELECT wallet, count(*) AS changes, (array_agg(balance ORDER BY block DESC))[1] AS lost FROM removed GROUP BY wallet
    ), standing AS (
      SELECT a.wallet, a.changes, a.lost, c.balance, coalesce(c.seconds >= :midnight, false) AS in_day
      FROM affected a
      LEFT JOIN LATERAL (SELECT balance, seconds FROM staking.balance_change
        WHERE wallet = a.wallet AND block <= :block ORDER BY block DESC LIMIT 1) AS c ON true
    ), carried AS (
      SELECT s.wallet, s.balance AS closing, coalesce(c.block, -1) AS block, coalesce(c.balance, 0) AS balance
      FROM standing s
      LEFT JOIN LATERAL (SELECT block, balance FROM staking.balance_change
        WHERE wallet = s.wallet AND block <= :block AND seconds < :midnight ORDER BY block DESC LIMIT 1) AS c ON true
      WHERE s.in_day
    ), held AS (
      SELECT h.wallet, h.balance, h.seconds, lead(h.seconds) OVER (PARTITION BY h.wallet ORDER BY h.block) AS until
      FROM carried r
      CROSS JOIN LATERAL (SELECT * FROM staking.balance_change
        WHERE wallet = r.wallet AND block > r.block AND block <= :block) AS h
    ), day AS (
      SELECT r.wallet, r.closing,
        least(CASE WHEN min(h.seconds) > :midnight THEN r.balance END, min(h.balance) FILTER (WHERE h.until > h.seconds)) AS low
      FROM carried r JOIN held h ON h.wallet = r.wallet
      GROUP BY r.wallet, r.closing, r.balance
    ), repaired AS (
      UPDATE staking.balance_day d SET low = day.low, closing = day.closing
      FROM day WHERE d.wallet = day.wallet AND d.day = :day
    ), dropped AS (
      DELETE FROM staking.balance_day d USING standing s
      WHERE d.wallet = s.wallet AND (d.day > :day OR (d.day = :day AND NOT s.in_day))
    )
    SELECT coalesce(sum(changes), 0) AS changes, count(*) AS wallets,
      coalesce(sum(lost), 0) AS lost, coalesce(sum(balance), 0) AS won
    FROM standing`,
);

const MOVE_BACK = named<{
  number: bigint;
  hash: string;
  seconds: number;
  gain: bigint;
  day: number;
}>(
  'rollback_head',
  `WITH forgotten AS (
      DELETE FROM staking.block WHERE number > :number
    ), moved AS (
      UPDATE staking.index_state SET head_number = :number, head_hash = decode(:hash, 'hex'), head_seconds = :seconds,
        total = total + :gain, rollbacks = rollbacks + 1,
        verified_number = CASE WHEN verified_number > :number THEN :number ELSE verified_number END, updated_at = now()
      RETURNING total
    ), dropped AS (
      DELETE FROM staking.day_total WHERE day > :day
    ), repaired AS (
      UPDATE staking.day_total d SET total = moved.total FROM moved WHERE d.day = :day
    )
    SELECT total FROM moved`,
);

/**
 * After a rollback below the final block, which only an operator decides: the head becomes the final block, remembered
 * as such, and a halt ends.
 */
const LOWER_FINAL = named(
  'rollback_final',
  `WITH remembered AS (
      INSERT INTO staking.block (number, hash, seconds)
      SELECT head_number, head_hash, head_seconds FROM staking.index_state WHERE finalised_number >= head_number
      ON CONFLICT (number) DO NOTHING
    )
    UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL,
      finalised_number = CASE WHEN finalised_number > head_number THEN head_number ELSE finalised_number END,
      finalised_hash = CASE WHEN finalised_number > head_number THEN head_hash ELSE finalised_hash END,
      finalised_seconds = CASE WHEN finalised_number > head_number THEN head_seconds ELSE finalised_seconds END`,
);

/** From the rows that a rollback adds and subtracts. */
const RECOUNT = named(
  'rollback_recount',
  `UPDATE staking.index_state SET updated_at = now(), total = (SELECT coalesce(sum(balance), 0)
    FROM (SELECT DISTINCT ON (wallet) balance FROM staking.balance_change ORDER BY wallet, block DESC) AS newest)`,
);

/** Sets the sum of all balances to that of the rows, which may have been changed by hand. Reads all of them. */
export async function recountTotal(client: PoolClient): Promise<void> {
  await client.query(RECOUNT({}));
}

/** Like `rollBack`, and possibly below the final block. */
export async function rewind(client: PoolClient, to: BlockRef): Promise<RollbackResult> {
  const result = await rollBack(client, to);
  await client.query(LOWER_FINAL({}));
  return result;
}

/** Takes back everything above the block, in a transaction that has locked the state's row. */
export async function rollBack(
  client: PoolClient,
  { number, hash, timestampSeconds }: BlockRef,
): Promise<RollbackResult> {
  const day = dayOf(timestampSeconds);
  const undo = await client.query<Record<'changes' | 'wallets' | 'lost' | 'won', string>>(
    UNDO_CHANGES({ block: number, day, midnight: day * SECONDS_PER_DAY }),
  );
  const [undone] = undo.rows;
  if (undone === undefined) throw new IndexMissingError();
  const gain = BigInt(undone.won) - BigInt(undone.lost);
  const moved = await client.query<{ total: string }>(
    MOVE_BACK({ number, hash: hexOf(hash), seconds: timestampSeconds, gain, day }),
  );
  const [state] = moved.rows;
  if (state === undefined) throw new IndexMissingError();
  return {
    changes: Number(undone.changes),
    wallets: Number(undone.wallets),
    total: BigInt(state.total),
  };
}
