import { type Database } from '#libs/db';

export interface QueueState {
  /** Number of redemptions and confirmations that are due by the simulated time and have no lease. */
  readonly due: number;
  /** One text for each current lease: the item and its owner. */
  readonly leases: readonly string[];
  /** Next due time of an item without a lease; Infinity where there is none. */
  readonly nextMs: number;
  /** Number of redemptions and confirmations with a due time: neither final nor waiting for an operator. */
  readonly open: number;
  readonly attention: number;
}

const STATE = {
  name: 'simulation_queue_state',
  text: `WITH queue AS (
      SELECT id, next_action_at, lease_owner, leased_until > now() AS leased FROM redemption.redemption
      WHERE next_action_at IS NOT NULL
      UNION ALL
      SELECT redemption_id, next_action_at, lease_owner, leased_until > now() FROM redemption.confirmation
      WHERE next_action_at IS NOT NULL
    )
    SELECT count(*) FILTER (WHERE next_action_at <= $1 AND leased IS NOT TRUE)::int AS due,
      coalesce(array_agg(id || '/' || lease_owner) FILTER (WHERE leased), '{}') AS leases,
      (extract(epoch FROM min(next_action_at) FILTER (WHERE next_action_at > $1 AND leased IS NOT TRUE)) * 1000)::float8 AS next,
      count(*)::int AS open,
      (SELECT count(*)::int FROM redemption.redemption WHERE state = 'attention' AND id <> ALL ($2::uuid[])) AS attention
    FROM queue`,
};

/**
 * The work of the workers, read from the database.
 * @param aside redemptions that no operator is asked about
 */
export async function queueState(
  database: Database,
  nowMs: number,
  aside: ReadonlySet<string>,
): Promise<QueueState> {
  const [row] = await database.query<{
    due: number;
    leases: string[];
    next: number | null;
    open: number;
    attention: number;
  }>(STATE, [new Date(nowMs), [...aside]]);
  if (row === undefined) throw new Error('an aggregate without a row');
  const { next, ...rest } = row;
  return { ...rest, nextMs: next ?? Infinity };
}
