import { named } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

/** By hour, the oldest first; hours without any are left out. */
export interface OwnUsage {
  readonly requests: readonly {
    /** Its beginning, UTC. */
    readonly hour: Date;
    /** Answered 200, 400 to 499 but for 429, 429, and 500 or more. */
    readonly answered: number;
    readonly refused: number;
    readonly limited: number;
    readonly failed: number;
  }[];
  readonly calls: readonly {
    readonly hour: Date;
    readonly calls: number;
    /** No answer, none that could be believed, or a fault of the partner's (status 500 and above). */
    readonly errors: number;
    /** Not sent at all. */
    readonly unsent: number;
  }[];
}

const REQUESTS = named<{ since: Date }>(
  'portal_requests_by_hour',
  `SELECT date_trunc('hour', at, 'UTC') AS hour, count(*) FILTER (WHERE status < 400)::int AS answered,
      count(*) FILTER (WHERE status BETWEEN 400 AND 499 AND status <> 429)::int AS refused,
      count(*) FILTER (WHERE status = 429)::int AS limited, count(*) FILTER (WHERE status >= 500)::int AS failed
    FROM portal.request WHERE at >= :since GROUP BY 1 ORDER BY 1`,
);

const IS_VERIFIED = `(outcome = 'answer' AND record ->> 'verdict' IS NOT DISTINCT FROM 'verified')`;
const CALLS = named<{ since: Date }>(
  'portal_calls_by_hour',
  `SELECT date_trunc('hour', begun_at, 'UTC') AS hour, count(*)::int AS calls,
      count(*) FILTER (WHERE outcome = 'no-answer' OR (outcome = 'answer' AND (NOT ${IS_VERIFIED}
        OR (record ->> 'status')::int >= 500)))::int AS errors,
      count(*) FILTER (WHERE outcome = 'nothing-sent')::int AS unsent
    FROM portal.partner_call WHERE begun_at >= :since GROUP BY 1 ORDER BY 1`,
);

/** @param query of `PortalDatabase.asPartner` */
export async function readUsage(query: PortalQuery, since: Date): Promise<OwnUsage> {
  return {
    requests: await query<OwnUsage['requests'][number]>(REQUESTS({ since })),
    calls: await query<OwnUsage['calls'][number]>(CALLS({ since })),
  };
}
