/**
 * Inserts many redemptions at once, in the state after their transitions. Making a million of them by transitions would
 * take hours.
 */
import { type Client } from 'pg';

/**
 * Inserts redemptions spread over a year, for 20 partners and at most 99,991 wallets. Most are claimed; one in ten has
 * failed, one in 150 is open, and one in 10,000 waits for an operator.
 * @param client connected as a superuser
 */
export async function seedRedemptions(client: Client, count: number): Promise<void> {
  await client.query('SET session_replication_role = replica');
  await client.query(SEED, [count]);
  await client.query('RESET session_replication_role');
  await client.query('VACUUM (ANALYZE) redemption.redemption');
}

const SEED = `
  INSERT INTO redemption.redemption (id, partner, wallet, points, usd_amount, token_amount, token_decimals, price_usd,
    quote_expires_at, initial_at, state, version, reason, resume, exposure, unproven_attempts, candidate_transaction_ids,
    redemption_id_refuted, deduct_attempts, payout_attempts, revert_attempts, next_action_at, state_since_at, pending_at,
    partner_transaction_id, deducted_at, authorised_at, claimed_at, failed_at, plan_recipient, plan_amount,
    plan_deadline_seconds, plan_vault, plan_chain_id, plan_from_block, paid_evidence)
  SELECT r.id, r.partner, r.wallet, 5000, 50, 340e18, 18, 0.15, r.at + interval '1 minute', r.at, r.state, 5,
    CASE WHEN r.state = 'attention' THEN 'deduction-unresolved' END, CASE WHEN r.state = 'attention' THEN 'reverting' END,
    CASE WHEN r.state = 'claimed' THEN 'possible' ELSE 'none' END, 0, '{}', false, 1, 0, 0,
    CASE WHEN r.state = 'created' THEN r.at END, r.at, CASE WHEN r.state <> 'created' THEN r.at END,
    CASE WHEN r.isClaimed THEN 'tx-' || r.n END, CASE WHEN r.isClaimed THEN r.at END, CASE WHEN r.isClaimed THEN r.at END,
    CASE WHEN r.isClaimed THEN r.at END, CASE WHEN r.state = 'failed' THEN r.at END, CASE WHEN r.isClaimed THEN r.wallet END,
    CASE WHEN r.isClaimed THEN 340e18 END, CASE WHEN r.isClaimed THEN 1 END,
    CASE WHEN r.isClaimed THEN decode(repeat('7a', 20), 'hex') END, CASE WHEN r.isClaimed THEN 1 END,
    CASE WHEN r.isClaimed THEN 1 END, CASE WHEN r.isClaimed THEN '{"outcome": "paid"}'::jsonb END
  FROM (SELECT n, at, state, state = 'claimed' AS isClaimed,
      (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
        || lpad(to_hex(n), 15, '0'))::uuid AS id,
      ('00000000-0000-4000-8000-' || lpad(to_hex(n % 20), 12, '0'))::uuid AS partner,
      decode(lpad(to_hex(n % 99991), 40, '0'), 'hex') AS wallet
    FROM (SELECT n, now() - n * (interval '365 days' / $1::int) AS at,
        CASE WHEN n % 10000 = 5 THEN 'attention' WHEN n % 150 = 1 THEN 'created' WHEN n % 10 = 3 THEN 'failed'
          ELSE 'claimed' END AS state
      FROM generate_series(1, $1::int) AS n) AS made) AS r`;
