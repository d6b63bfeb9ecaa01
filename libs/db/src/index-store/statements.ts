import { type Statement } from '../connection/database.js';
import { STATE_COLUMNS } from './index-state.js';

export const READ_STATE: Statement = {
  name: 'index_state',
  text: `SELECT ${STATE_COLUMNS} FROM staking.index_state s`,
};

export const CREATE_STATE: Statement = {
  name: 'index_create',
  text: `INSERT INTO staking.index_state (fingerprint, settings, chain_id, stake_contract, token_contract, token_symbol,
      token_decimals, head_number, head_hash, head_seconds)
    VALUES ($1, $2, $3, decode($4, 'hex'), decode($5, 'hex'), $6, $7, $8, decode($9, 'hex'), $10)
    ON CONFLICT DO NOTHING`,
};

/** $1 the fingerprint of the only index that is meant, or null. */
export const TAKE_LEAD: Statement = {
  name: 'index_take_lead',
  text: `UPDATE staking.index_state SET fence = fence + 1, updated_at = now()
    WHERE fingerprint = coalesce($1, fingerprint) RETURNING fence`,
};

/**
 * Ends the transactions that hold the state's row, are older than $1 ms and wait for their program: one that was stopped in the
 * middle of a COPY would wait for ever, no time limit of the session ends that.
 */
export const END_STALLED: Statement = {
  name: 'index_end_stalled',
  text: `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = session_user AND a.pid <> pg_backend_pid()
      AND a.wait_event = 'ClientRead' AND a.xact_start < clock_timestamp() - $1 * interval '1 ms'
      AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.relation = 'staking.index_state'::regclass
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.mode IN ('RowShareLock', 'RowExclusiveLock'))`,
};

/** Locks the row until the end of the transaction and tells whose it is. */
export const LOCK_STATE: Statement = {
  name: 'index_lock',
  text: `SELECT fence, head_number, encode(head_hash, 'hex') AS head_hash FROM staking.index_state FOR NO KEY UPDATE`,
};

export const WALLET_STATES: Statement = {
  name: 'index_wallet_states',
  text: `SELECT encode(c.wallet, 'hex') AS wallet, c.balance, c.seconds, d.low
    FROM unnest($1::bytea[]) AS w (wallet)
    CROSS JOIN LATERAL (SELECT * FROM staking.balance_change WHERE wallet = w.wallet ORDER BY block DESC LIMIT 1) AS c
    LEFT JOIN staking.balance_day d ON d.wallet = c.wallet AND d.day = c.seconds / 86400`,
};

export const BALANCES_AT: Statement = {
  name: 'index_balances_at',
  text: `SELECT coalesce(c.balance, 0) AS balance
    FROM unnest($1::bytea[]) WITH ORDINALITY AS w (wallet, position)
    LEFT JOIN LATERAL (SELECT balance FROM staking.balance_change
      WHERE wallet = w.wallet AND block <= $2 ORDER BY block DESC LIMIT 1) AS c ON true
    ORDER BY w.position`,
};

/** The wallets next to random points of the address space: two look-ups in the index for each, however many there are. */
export const SAMPLE_WALLETS: Statement = {
  name: 'index_sample_wallets',
  text: `SELECT DISTINCT encode(coalesce(
        (SELECT wallet FROM staking.balance_change WHERE wallet >= point ORDER BY wallet LIMIT 1),
        (SELECT wallet FROM staking.balance_change ORDER BY wallet LIMIT 1)), 'hex') AS wallet
    FROM unnest($1::bytea[]) AS p (point)`,
};

/** Wallets whose balance changed in the blocks above $1 and up to $2, from the one after $3 on, $4 at the most. */
export const CHANGED_WALLETS: Statement = {
  name: 'index_changed_wallets',
  text: `SELECT DISTINCT ON (wallet) encode(wallet, 'hex') AS wallet FROM staking.balance_change
    WHERE block > $1 AND block <= $2 AND wallet > $3 ORDER BY wallet LIMIT $4`,
};

export const BLOCKS_FROM: Statement = {
  name: 'index_blocks',
  text: `SELECT number, encode(hash, 'hex') AS hash, seconds FROM staking.block WHERE number >= $1 ORDER BY number`,
};

export const UPSERT_DAYS: Statement = {
  name: 'index_days',
  text: `INSERT INTO staking.balance_day (wallet, day, low, closing)
    SELECT * FROM unnest($1::bytea[], $2::int[], $3::numeric[], $4::numeric[])
    ON CONFLICT (wallet, day) DO UPDATE SET low = excluded.low, closing = excluded.closing`,
};

/**
 * The end of every commit, one statement: remembers blocks, forgets those below the finalised one and moves the head.
 * $1 fence, $2 $3 previous head, $4 $5 $6 head, $7 total, $8 $9 $10 finalised or null, $11 verified or null, $12 synced,
 * $13 $14 $15 blocks. A finalised block that is older than the known one is ignored: a node behind the others reported it.
 */
export const ADVANCE: Statement = {
  name: 'index_advance',
  text: `WITH advanced AS (
      UPDATE staking.index_state SET
        head_number = $4, head_hash = decode($5, 'hex'), head_seconds = $6, total = $7,
        finalised_number = CASE WHEN $8 >= coalesce(finalised_number, $8) THEN $8 ELSE finalised_number END,
        finalised_hash = CASE WHEN $8 >= coalesce(finalised_number, $8) THEN decode($9, 'hex') ELSE finalised_hash END,
        finalised_seconds = CASE WHEN $8 >= coalesce(finalised_number, $8) THEN $10 ELSE finalised_seconds END,
        verified_number = greatest(verified_number, $11),
        synced_at = CASE WHEN $12 THEN now() ELSE synced_at END,
        updated_at = now()
      WHERE fence = $1 AND head_number = $2 AND head_hash = decode($3, 'hex')
      RETURNING finalised_number
    ), remembered AS (
      INSERT INTO staking.block (number, hash, seconds)
      SELECT number, decode(hash, 'hex'), seconds
      FROM unnest($13::bigint[], $14::text[], $15::bigint[]) AS b (number, hash, seconds), advanced
      WHERE number >= coalesce(finalised_number, number)
      ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, seconds = excluded.seconds
    ), forgotten AS (
      DELETE FROM staking.block USING advanced WHERE number < finalised_number
    )
    SELECT count(*)::int AS rows FROM advanced`,
};

export const HALT: Statement = {
  name: 'index_halt',
  text: `UPDATE staking.index_state SET halted_at = now(), halted_reason = $2, updated_at = now()
    WHERE fence = $1 RETURNING fence`,
};

export const CLEAR_HALT: Statement = {
  name: 'index_clear_halt',
  text: `UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL, updated_at = now()
    WHERE fence = $1 RETURNING fence`,
};
