import { type PoolClient } from 'pg';
import { type Statement } from '../connection/database.js';

/** Of a partner, at the api. Within seconds every replica goes by them. */
export interface RateLimits {
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}

const SET: Statement = {
  name: 'partner_set_limits',
  text: `UPDATE partners.partner SET rate = coalesce($2, rate), burst = coalesce($3, burst) WHERE id = $1
    RETURNING rate, burst`,
};

/** What is absent stays. */
export async function setRateLimits(
  client: PoolClient,
  partnerId: string,
  { rate, burst }: Partial<RateLimits>,
): Promise<RateLimits | undefined> {
  const values = [partnerId, rate ?? null, burst ?? null];
  return (await client.query<RateLimits>({ ...SET, values })).rows[0];
}
