/** Logs page by page: the transitions and calls of one redemption, and the calls of one partner. */
import { type PartnerId, type PartnerStep, type RedemptionState, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type OrNull, orNull, unnamed } from '../connection/named.js';
import { type LogPage, nextKey, type PageRequest } from '../connection/page.js';
import { type Nullable } from '../connection/rows.js';
import { IS_UNSETTLED } from './redemption-pages.js';

export interface LoggedCall {
  /** Null for a balance read. */
  readonly redemptionId: UuidV7 | null;
  readonly requestId: UuidV7;
  readonly step: string;
  readonly begunAt: Date;
  /** Null while the call is in progress, and for ever where its end was never learnt. */
  readonly end: { readonly at: Date; readonly outcome: string; readonly record: object } | null;
}

export interface LoggedTransition {
  readonly version: number;
  readonly event: string;
  readonly from: RedemptionState | null;
  readonly to: RedemptionState;
  readonly reason: string | null;
  readonly actor: string;
  readonly requestId: UuidV7 | null;
  readonly at: Date;
}

/** The calls of one step in one hour. Hours without a call are left out. */
export interface CallsOfHour {
  /** Start of the hour, UTC. */
  readonly hour: Date;
  readonly step: PartnerStep;
  readonly calls: number;
  /** Usable answers that refuse, with another status than 200. */
  readonly refused: number;
  /** Calls that went out and brought no usable answer. */
  readonly errors: number;
  /** Calls that were not sent, so that the partner has not seen them. */
  readonly unsent: number;
}

/** `limit` null: all. */
export const TRANSITIONS = named<{ id: UuidV7; after: number; limit: number | null }>(
  'log_transitions',
  `SELECT version, event, from_state AS "from", to_state AS "to", reason, actor, request_id AS "requestId", at
    FROM redemption.transition WHERE redemption_id = :id AND version > :after ORDER BY version LIMIT :limit`,
);

const CALL_COLUMNS = `request_id AS "requestId", redemption_id AS "redemptionId", step, begun_at AS "begunAt", ended_at AS "endedAt",
      outcome, record`;

export type CallRow = Omit<LoggedCall, 'end'> &
  Nullable<{ endedAt: Date; outcome: string; record: object }>;

/** Request ids are of version 7: they sort by the time of their creation, right before the call. */
export const CALLS = named<{ id: UuidV7; after: UuidV7 | null; limit: number | null }>(
  'log_calls',
  `SELECT ${CALL_COLUMNS} FROM redemption.partner_call
    WHERE redemption_id = :id AND (:after::uuid IS NULL OR request_id > :after) ORDER BY request_id LIMIT :limit`,
);

/** `outcome` is `answer`, `no-answer` or `nothing-sent`. Absent fields do not restrict the result. */
interface CallFilter {
  readonly step?: PartnerStep | undefined;
  readonly outcome?: string | undefined;
}
const CALLS_OF_PARTNER = unnamed<{ partner: PartnerId } & OrNull<CallFilter & PageRequest<UuidV7>>>(
  `SELECT ${CALL_COLUMNS} FROM redemption.partner_call
    WHERE partner = :partner AND (:step::text IS NULL OR step = :step) AND (:outcome::text IS NULL OR outcome = :outcome)
      AND (:after::uuid IS NULL OR request_id < :after) ORDER BY request_id DESC LIMIT :limit`,
);

const IS_USABLE = `((record -> 'finding' ->> 'isUsable')::boolean IS TRUE)`;
/** Whether a call ended without a usable answer, or was not sent. */
export const IS_FAILED = `(outcome IS NOT NULL AND NOT ${IS_USABLE})`;
/** The columns `errors` and `unsent` of CallsOfHour. */
export const FAILED_CALLS = `count(*) FILTER (WHERE ${IS_FAILED} AND outcome <> 'nothing-sent')::int AS errors,
      count(*) FILTER (WHERE outcome = 'nothing-sent')::int AS unsent`;
const CALLS_PER_HOUR = unnamed<{ partner: PartnerId; first: string; since: Date }>(
  `SELECT date_trunc('hour', begun_at, 'UTC') AS hour, step, count(*)::int AS calls,
      count(*) FILTER (WHERE ${IS_USABLE} AND (record ->> 'status')::int <> 200)::int AS refused, ${FAILED_CALLS}
    FROM redemption.partner_call WHERE partner = :partner AND request_id >= :first::uuid AND begun_at >= :since
    GROUP BY 1, 2 ORDER BY 1, 2`,
);

/** A partner whose calls fail, or whose redemptions wait for an operator. */
export interface PartnerTrouble {
  readonly partner: PartnerId;
  readonly failedCalls: number;
  readonly stuck: number;
}

const TROUBLES = named<{ first: string; since: Date }>(
  'partner_troubles',
  `SELECT partner, sum(failed)::int AS "failedCalls", sum(stuck)::int AS stuck
    FROM (
      SELECT c.partner, c.errors + c.unsent AS failed, 0 AS stuck FROM (
        SELECT partner, ${FAILED_CALLS} FROM redemption.partner_call
        WHERE request_id >= :first::uuid AND begun_at >= :since GROUP BY partner) c
      UNION ALL
      SELECT r.partner, 0, count(*) FROM redemption.redemption r
      WHERE r.state = 'attention' AND ${IS_UNSETTLED} GROUP BY r.partner
    ) found
    GROUP BY partner HAVING sum(failed) + sum(stuck) > 0 ORDER BY partner`,
);

/** Maximum time in milliseconds by which a request id is older than its call. */
const MINTED_BEFORE_MS = 600_000;
const DIGITS = 32;

export class RedemptionLog {
  constructor(private readonly database: Database) {}

  /** The transitions of one redemption, oldest first. */
  async transitions(
    id: UuidV7,
    { limit, after = 0 }: PageRequest<number>,
  ): Promise<LogPage<LoggedTransition, number>> {
    const statement = TRANSITIONS({ id, after, limit });
    const entries = await this.database.query<LoggedTransition>(statement);
    return { entries, next: nextKey(entries, limit, ({ version }) => version) };
  }

  /** The calls of one redemption, oldest first. */
  async calls(
    id: UuidV7,
    { limit, after }: PageRequest<UuidV7>,
  ): Promise<LogPage<LoggedCall, UuidV7>> {
    return pageOf(
      await this.database.query<CallRow>(CALLS({ id, after: after ?? null, limit })),
      limit,
    );
  }

  /** Newest first. */
  async callsOfPartner(
    partner: PartnerId,
    { limit, after }: PageRequest<UuidV7>,
    { step, outcome }: CallFilter = {},
  ): Promise<LogPage<LoggedCall, UuidV7>> {
    const statement = CALLS_OF_PARTNER(orNull({ partner, step, outcome, after, limit }));
    return pageOf(await this.database.query<CallRow>(statement), limit);
  }

  /** The oldest hour first. */
  async callsPerHour(partner: PartnerId, sinceMs: number): Promise<CallsOfHour[]> {
    const statement = CALLS_PER_HOUR({ partner, ...since(sinceMs) });
    return this.database.query<CallsOfHour>(statement);
  }

  /** Calls that failed since this moment, and redemptions that wait for an operator now, by partner. */
  async troubles(sinceMs: number): Promise<PartnerTrouble[]> {
    return this.database.query<PartnerTrouble & object>(TROUBLES(since(sinceMs)));
  }
}

/** The moment, and the lowest id that a call begun since then can have. */
function since(sinceMs: number): { readonly first: string; readonly since: Date } {
  const firstMs = Math.max(0, sinceMs - MINTED_BEFORE_MS);
  const first = firstMs.toString(16).padStart(12, '0').padEnd(DIGITS, '0');
  return { first, since: new Date(sinceMs) };
}

function pageOf(rows: readonly CallRow[], limit: number): LogPage<LoggedCall, UuidV7> {
  return { entries: rows.map(callOf), next: nextKey(rows, limit, (row) => row.requestId) };
}

export function callOf({ endedAt: at, outcome, record, ...call }: CallRow): LoggedCall {
  const isOver = at !== null && outcome !== null && record !== null;
  return { ...call, end: isOver ? { at, outcome, record } : null };
}
