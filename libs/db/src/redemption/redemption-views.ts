/** Views of the redemptions for operators and metrics. Only `audit` writes. */
import {
  type Address,
  type DeliveryState,
  type PartnerId,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type OrNull, orNull, unnamed, type Statement } from '../connection/named.js';
import { addressBytes, type Nullable } from '../rows.js';
import {
  READ_COLUMNS,
  readRows,
  type ReadRows,
  type RedemptionRow,
  type StoredRedemption,
  storedOf,
} from './redemption-row.js';
import { type AuditNote, noteCommand } from './audit-log.js';
import { BY_ID, type LeasedRow } from './transition-write.js';

export interface LoggedCall {
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

export interface RedemptionHistory extends StoredRedemption {
  readonly lease: { readonly owner: string; readonly until: Date } | null;
  /** Oldest first, like `calls`. */
  readonly transitions: readonly LoggedTransition[];
  readonly calls: readonly LoggedCall[];
  readonly confirmation: {
    readonly state: DeliveryState;
    readonly attempts: number;
    readonly payload: string;
    readonly deliveredAt: Date | null;
    readonly undeliveredAt: Date | null;
    /** Time of the next attempt; null where there will be none. */
    readonly nextActionAt: Date | null;
  } | null;
}

export interface RedemptionSearch {
  readonly state?: RedemptionState | undefined;
  /** The partner's id. */
  readonly partner?: PartnerId | undefined;
  readonly wallet?: Address | undefined;
  readonly limit: number;
  /** `newest`: the newest redemption first. `longest`: the one that has been in its state longest first. */
  readonly first: 'newest' | 'longest';
}

export interface StateCount {
  readonly state: RedemptionState;
  readonly count: number;
  /** Time in this state of the redemption that has been in it longest. */
  readonly oldestSeconds: number;
}

export interface RedemptionCounts {
  /**
   * The states that are not final and have redemptions. Redemptions settled by hand do not count,
   * because they need no person.
   */
  readonly states: readonly StateCount[];
  /** Redemptions that are due and not leased. */
  readonly due: { readonly count: number; readonly oldestSeconds: number };
  readonly confirmationsPending: number;
  readonly confirmationsUndelivered: number;
}

const TRANSITIONS = named<{ id: UuidV7 }>(
  'redemption_transitions',
  `SELECT version, event, from_state AS "from", to_state AS "to", reason, actor, request_id AS "requestId", at
    FROM redemption.transition WHERE redemption_id = :id ORDER BY version`,
);

/** The columns of a CallRow. */
export const CALL_COLUMNS = `request_id AS "requestId", step, begun_at AS "begunAt", ended_at AS "endedAt", outcome, record`;

export type CallRow = Omit<LoggedCall, 'end'> &
  Nullable<{ endedAt: Date; outcome: string; record: object }>;

const CALLS = named<{ id: UuidV7 }>(
  'redemption_calls',
  `SELECT ${CALL_COLUMNS} FROM redemption.partner_call
    WHERE redemption_id = :id ORDER BY begun_at, request_id`,
);

const CONFIRMATION = named<{ id: UuidV7 }>(
  'redemption_confirmation',
  `SELECT state, attempts, payload, delivered_at AS "deliveredAt", undelivered_at AS "undeliveredAt",
      next_action_at AS "nextActionAt"
    FROM redemption.confirmation WHERE redemption_id = :id`,
);

type Search = OrNull<
  Pick<RedemptionSearch, 'state' | 'partner' | 'limit'> & { readonly wallet?: Buffer | undefined }
>;
const SEARCH = `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE (:state::text IS NULL OR r.state = :state) AND (:partner::uuid IS NULL OR r.partner = :partner)
      AND (:wallet::bytea IS NULL OR r.wallet = :wallet)`;
const ORDERED = {
  newest: unnamed<Search>(`${SEARCH} ORDER BY r.id DESC LIMIT :limit`),
  longest: unnamed<Search>(`${SEARCH} ORDER BY r.state_since_at, r.id LIMIT :limit`),
};

const STATES: Statement = {
  name: 'redemption_states',
  text: `SELECT state, count(*)::int AS count,
      greatest(0, extract(epoch FROM now() - min(state_since_at)))::float8 AS "oldestSeconds"
    FROM redemption.redemption WHERE state NOT IN ('claimed', 'reverted', 'failed')
      AND (state <> 'attention' OR reason IS DISTINCT FROM 'settled-by-hand') GROUP BY state ORDER BY state`,
};

const QUEUES: Statement = {
  name: 'redemption_queues',
  text: `SELECT d.count, d.oldest,
      (SELECT count(*)::int FROM redemption.confirmation WHERE next_action_at IS NOT NULL) AS pending,
      (SELECT count(*)::int FROM redemption.confirmation WHERE undelivered_at IS NOT NULL) AS undelivered
    FROM (SELECT count(*)::int AS count,
        coalesce(greatest(0, extract(epoch FROM now() - min(next_action_at))), 0)::float8 AS oldest
      FROM redemption.redemption
      WHERE next_action_at <= now() AND (leased_until IS NULL OR leased_until <= now())) AS d`,
};

export class RedemptionViews {
  constructor(private readonly database: Database) {}

  /** Everything that is known of one redemption. @throws UnreadableRedemptionError */
  async show(id: UuidV7): Promise<RedemptionHistory | undefined> {
    const [row] = await this.database.query<LeasedRow>(BY_ID({ id }));
    if (row === undefined) return undefined;
    const { lease_owner: owner, leased_until: until } = row;
    const transitions = await this.database.query<LoggedTransition>(TRANSITIONS({ id }));
    const calls = await this.database.query<CallRow>(CALLS({ id }));
    const [confirmation] = await this.database.query<
      NonNullable<RedemptionHistory['confirmation']>
    >(CONFIRMATION({ id }));
    return {
      ...storedOf(row),
      lease: owner === null || until === null ? null : { owner, until },
      transitions,
      calls: calls.map(callOf),
      confirmation: confirmation ?? null,
    };
  }

  async search({ state, partner, wallet, limit, first }: RedemptionSearch): Promise<ReadRows> {
    const bytes = wallet && addressBytes(wallet);
    const statement = ORDERED[first](orNull({ state, partner, wallet: bytes, limit }));
    return readRows(await this.database.query<RedemptionRow>(statement));
  }

  async counts(): Promise<RedemptionCounts> {
    const states = await this.database.query<StateCount & object>(STATES);
    const [queues] =
      await this.database.query<Record<'count' | 'oldest' | 'pending' | 'undelivered', number>>(
        QUEUES,
      );
    return {
      states,
      due: { count: queues?.count ?? 0, oldestSeconds: queues?.oldest ?? 0 },
      confirmationsPending: queues?.pending ?? 0,
      confirmationsUndelivered: queues?.undelivered ?? 0,
    };
  }

  /** Records a command that changed no redemption: a refused one, or one about a partner. */
  async audit(
    actor: string,
    note: AuditNote,
    of: { readonly redemptionId?: UuidV7; readonly partner?: PartnerId } = {},
  ): Promise<void> {
    await this.database.entities((manager) => noteCommand(manager, actor, note, of));
  }
}

export function callOf({ endedAt: at, outcome, record, ...call }: CallRow): LoggedCall {
  const isOver = at !== null && outcome !== null && record !== null;
  return { ...call, end: isOver ? { at, outcome, record } : null };
}
