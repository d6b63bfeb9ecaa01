/** Redemptions page by page, and the figures above them. */
import { type Address, type RedemptionState, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type OrNull, orNull, unnamed } from '../connection/named.js';
import { nextKey, type PageRequest } from '../connection/page.js';
import { addressBytes } from '../rows.js';
import { READ_COLUMNS, readRows, type ReadRows, type RedemptionRow } from './redemption-row.js';

/** What is absent does not narrow it. */
export interface RedemptionFilter {
  readonly state?: RedemptionState | undefined;
  /** The partner's id. */
  readonly partner?: string | undefined;
  readonly wallet?: Address | undefined;
  /** The beginning of the redemption's id; see `isIdPrefix`. */
  readonly idPrefix?: string | undefined;
  /** Made at this moment or later. */
  readonly fromMs?: number | undefined;
  /** Made before this moment. */
  readonly untilMs?: number | undefined;
}

/** With those that cannot be read. */
export interface RedemptionPage<Key> extends ReadRows {
  /** Undefined on the last page. */
  readonly next: Key | undefined;
}

/** Where a page of the open redemptions ended. */
export interface OpenKey {
  readonly needsPerson: boolean;
  /** As PostgreSQL writes it, to the last digit. */
  readonly stateSince: string;
  readonly id: UuidV7;
}

export interface OpenState {
  readonly state: RedemptionState;
  readonly count: number;
  /** How long the first of them has been in its state. */
  readonly longestSeconds: number;
  /** How long ago the oldest of them was made. */
  readonly oldestSeconds: number;
}

export interface RedemptionOverview {
  /** The states that are not final, those in which there are any; without what was settled by hand, which needs no person. */
  readonly open: readonly OpenState[];
  /** Of those made since the moment asked for, by their state now. */
  readonly made: readonly { readonly state: RedemptionState; readonly count: number }[];
}

const PREFIX = /^[0-9a-f-]{1,36}$/i;
const DIGITS = 32;

/** Whether an id may begin so: hex digits, with hyphens or without. */
export function isIdPrefix(text: string): boolean {
  const digits = text.replaceAll('-', '').length;
  return PREFIX.test(text) && digits > 0 && digits <= DIGITS;
}

interface IdRange {
  readonly lowest: string | null;
  readonly highest: string | null;
}

type Newest = Pick<RedemptionFilter, 'state' | 'partner'> &
  PageRequest<UuidV7> & { readonly wallet?: Buffer | undefined };

/** Ids of version 7 sort by time. */
const NEWEST = unnamed<OrNull<Newest> & IdRange>(
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE (:state::text IS NULL OR r.state = :state) AND (:partner::uuid IS NULL OR r.partner = :partner)
      AND (:wallet::bytea IS NULL OR r.wallet = :wallet)
      AND (:lowest::uuid IS NULL OR r.id BETWEEN :lowest AND :highest::uuid) AND (:after::uuid IS NULL OR r.id < :after)
    ORDER BY r.id DESC LIMIT :limit`,
);

/** The predicate of the index redemption_state, and a part of that of redemption_queue. */
const IS_OPEN = `r.state NOT IN ('claimed', 'reverted', 'failed')`;
/** What was settled by hand stays in its state for good, and needs no person. */
const IS_UNSETTLED = `(r.state <> 'attention' OR r.reason IS DISTINCT FROM 'settled-by-hand')`;

const OPEN = unnamed<OrNull<Partial<OpenKey>> & { readonly limit: number }>(
  `SELECT ${READ_COLUMNS}, r.state_since_at::text AS since FROM redemption.redemption r
    WHERE ${IS_OPEN} AND ${IS_UNSETTLED}
      AND (:id::uuid IS NULL OR (r.state <> 'attention', r.state_since_at, r.id) > (NOT :needsPerson::boolean, :stateSince::timestamptz, :id))
    ORDER BY r.state <> 'attention', r.state_since_at, r.id LIMIT :limit`,
);

const OPEN_STATES = named<object>(
  'redemption_open_states',
  `SELECT r.state, count(*)::int AS count,
      greatest(0, extract(epoch FROM now() - min(r.state_since_at)))::float8 AS "longestSeconds",
      greatest(0, extract(epoch FROM now() - min(r.initial_at)))::float8 AS "oldestSeconds"
    FROM redemption.redemption r WHERE ${IS_OPEN} AND ${IS_UNSETTLED}
    GROUP BY r.state ORDER BY r.state`,
);

const MADE = named<{ first: string }>(
  'redemption_made',
  `SELECT r.state, count(*)::int AS count FROM redemption.redemption r WHERE r.id >= :first::uuid
    GROUP BY r.state ORDER BY r.state`,
);

export class RedemptionPages {
  constructor(private readonly database: Database) {}

  async newest(
    { state, partner, wallet, ...made }: RedemptionFilter,
    { limit, after }: PageRequest<UuidV7>,
  ): Promise<RedemptionPage<UuidV7>> {
    if (made.idPrefix !== undefined && !isIdPrefix(made.idPrefix)) {
      return { found: [], unreadable: [], next: undefined };
    }
    const bytes = wallet && addressBytes(wallet);
    const asked = orNull({ state, partner, wallet: bytes, limit, after });
    const statement = NEWEST({ ...asked, ...idRange(made) });
    const rows = await this.database.query<RedemptionRow>(statement);
    return { ...readRows(rows), next: nextKey(rows, limit, ({ id }) => id as UuidV7) };
  }

  /** Those that are not finished: first what waits for a person, then the others; of each the longest in its state first. */
  async open({ limit, after }: PageRequest<OpenKey>): Promise<RedemptionPage<OpenKey>> {
    const { needsPerson, stateSince, id } = after ?? {};
    const statement = OPEN(orNull({ needsPerson, stateSince, id, limit }));
    const rows = await this.database.query<RedemptionRow>(statement);
    return { ...readRows(rows), next: nextKey(rows, limit, openKeyOf) };
  }

  /** @param sinceMs from when on those are counted that were made, whatever became of them */
  async overview(sinceMs: number): Promise<RedemptionOverview> {
    const first = idsFrom(sinceMs).padEnd(DIGITS, '0');
    return {
      open: await this.database.query<OpenState>(OPEN_STATES({})),
      made: await this.database.query<RedemptionOverview['made'][number]>(MADE({ first })),
    };
  }
}

/** The beginning of the ids that are made at a moment. */
function idsFrom(ms: number): string {
  return ms.toString(16).padStart(12, '0');
}

/** The ids that may be meant: those that begin so, made in this time. */
function idRange({ idPrefix, fromMs, untilMs }: RedemptionFilter): IdRange {
  const digits = idPrefix?.replaceAll('-', '').toLowerCase();
  if (digits === undefined && fromMs === undefined && untilMs === undefined) {
    return { lowest: null, highest: null };
  }
  const lowest = [digits ?? '', fromMs === undefined ? '' : idsFrom(Math.max(0, fromMs))];
  const highest = [digits ?? '', untilMs === undefined ? '' : idsFrom(Math.max(0, untilMs - 1))];
  return {
    lowest: lowest.map((one) => one.padEnd(DIGITS, '0')).toSorted()[1] ?? null,
    highest: highest.map((one) => one.padEnd(DIGITS, 'f')).toSorted()[0] ?? null,
  };
}

function openKeyOf(row: RedemptionRow): OpenKey {
  return {
    needsPerson: row['state'] === 'attention',
    stateSince: String(row['since']),
    id: row.id as UuidV7,
  };
}
