import { type Statement } from '../connection/database.js';

/**
 * Removes the balance changes above block $1, whose day is $2 and that day's first second $3, and repairs the day rows of
 * the wallets they belonged to. Days after $2 had changes above the block only, days before it had none: so a single day a
 * wallet is worked out again, by the rules of BalanceDay:
 * - `held` are the changes that stay in the day, each until the next one; one followed in the same second was never held;
 * - `low` is the least of those that ended within the day and, unless the first one is at exactly 00:00:00, of the balance
 *   carried in (0 before a wallet's first change).
 * All parts read the tables as they were before the statement, hence `block <= $1` throughout. One row comes back: how many changes and wallets,
 * and what the sum of balances loses and wins.
 */
export const UNDO_CHANGES: Statement = {
  name: 'rollback_changes',
  text: `WITH removed AS (
      DELETE FROM staking.balance_change WHERE block > $1 RETURNING wallet, block, balance
    ), affected AS (
      SELECT wallet, count(*) AS changes, (array_agg(balance ORDER BY block DESC))[1] AS lost FROM removed GROUP BY wallet
    ), standing AS (
      SELECT a.wallet, a.changes, a.lost, c.balance, coalesce(c.seconds >= $3, false) AS in_day
      FROM affected a
      LEFT JOIN LATERAL (SELECT balance, seconds FROM staking.balance_change
        WHERE wallet = a.wallet AND block <= $1 ORDER BY block DESC LIMIT 1) AS c ON true
    ), carried AS (
      SELECT s.wallet, s.balance AS closing, coalesce(c.block, -1) AS block, coalesce(c.balance, 0) AS balance
      FROM standing s
      LEFT JOIN LATERAL (SELECT block, balance FROM staking.balance_change
        WHERE wallet = s.wallet AND block <= $1 AND seconds < $3 ORDER BY block DESC LIMIT 1) AS c ON true
      WHERE s.in_day
    ), held AS (
      SELECT h.wallet, h.balance, h.seconds, lead(h.seconds) OVER (PARTITION BY h.wallet ORDER BY h.block) AS until
      FROM carried r
      CROSS JOIN LATERAL (SELECT * FROM staking.balance_change
        WHERE wallet = r.wallet AND block > r.block AND block <= $1) AS h
    ), day AS (
      SELECT r.wallet, r.closing,
        least(CASE WHEN min(h.seconds) > $3 THEN r.balance END, min(h.balance) FILTER (WHERE h.until > h.seconds)) AS low
      FROM carried r JOIN held h ON h.wallet = r.wallet
      GROUP BY r.wallet, r.closing, r.balance
    ), repaired AS (
      UPDATE staking.balance_day d SET low = day.low, closing = day.closing
      FROM day WHERE d.wallet = day.wallet AND d.day = $2
    ), dropped AS (
      DELETE FROM staking.balance_day d USING standing s
      WHERE d.wallet = s.wallet AND (d.day > $2 OR (d.day = $2 AND NOT s.in_day))
    )
    SELECT coalesce(sum(changes), 0) AS changes, count(*) AS wallets,
      coalesce(sum(lost), 0) AS lost, coalesce(sum(balance), 0) AS won
    FROM standing`,
};

/** Moves the head back to the block $1 $2 $3; $4 is what the sum of balances changes by. */
export const MOVE_BACK: Statement = {
  name: 'rollback_head',
  text: `WITH forgotten AS (DELETE FROM staking.block WHERE number > $1)
    UPDATE staking.index_state SET head_number = $1, head_hash = decode($2, 'hex'), head_seconds = $3, total = total + $4,
      rollbacks = rollbacks + 1, verified_number = least(verified_number, $1), updated_at = now()
    RETURNING total`,
};
