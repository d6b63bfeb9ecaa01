import { named } from '../connection/named.js';
import { type CallsOfHour, FAILED_CALLS } from '../redemption/redemption-log.js';
import { type PortalQuery } from './portal-database.js';

/** By hour, oldest first. Hours without a request or call are left out. */
export interface OwnUsage {
  readonly requests: readonly {
    /** Start of the hour, UTC. */
    readonly hour: Date;
    /**
     * `answered` with a status below 400, `refused` with 400 to 499 except 429, `limited` with 429,
     * `failed` with 500 and above.
     */
    readonly answered: number;
    readonly refused: number;
    readonly limited: number;
    readonly failed: number;
  }[];
  readonly calls: readonly Pick<CallsOfHour, 'hour' | 'calls' | 'errors' | 'unsent'>[];
}

const REQUESTS = named<{ since: Date }>(
  'portal_requests_by_hour',
  `SELECT date_trunc('hour', at, 'UTC') AS hour, count(*) FILTER (WHERE status < 400)::int AS answered,
      count(*) FILTER (WHERE status BETWEEN 400 AND 499 AND status <> 429)::int AS refused,
      count(*) FILTER (WHERE status = 429)::int AS limited, count(*) FILTER (WHERE status >= 500)::int AS failed
    FROM portal.request WHERE at >= :since GROUP BY 1 ORDER BY 1`,
);

const CALLS = named<{ since: Date }>(
  'portal_calls_by_hour',
  `SELECT date_trunc('hour', begun_at, 'UTC') AS hour, count(*)::int AS calls, ${FAILED_CALLS}
    FROM portal.partner_call WHERE begun_at >= :since GROUP BY 1 ORDER BY 1`,
);

/** @param query of `PortalDatabase.asPartner` */
export async function readUsage(query: PortalQuery, since: Date): Promise<OwnUsage> {
  return {
    requests: await query<OwnUsage['requests'][number]>(REQUESTS({ since })),
    calls: await query<OwnUsage['calls'][number]>(CALLS({ since })),
  };
}
