/** Redemptions page by page, and their numbers by state. */
import { type Address, type PartnerId, type RedemptionState, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type OrNull, orNull, unnamed } from '../connection/named.js';
import { nextKey, type PageRequest } from '../connection/page.js';
import { addressBytes } from '../connection/rows.js';
import { READ_COLUMNS, readRows, type ReadRows, type RedemptionRow } from './redemption-row.js';

/** Absent fields do not restrict the result. */
export interface RedemptionFilter {
  readonly state?: RedemptionState | undefined;
  /** The partner's id. */
  readonly partner?: PartnerId | undefined;
  readonly wallet?: Address | undefined;
  /** Beginning of the redemption's id; see `isIdPrefix`. */
  readonly idPrefix?: string | undefined;
  /** Created at this moment or later. */
  readonly fromMs?: number | undefined;
  /** Created before this moment. */
  readonly untilMs?: number | undefined;
}

/** A page, with the redemptions that cannot be read. */
export interface RedemptionPage<Key> extends ReadRows {
  /** Key for the request of the next page; undefined on the last page. */
  readonly next: Key | undefined;
}

/** Key of the last redemption on a page of open redemptions. */
export interface OpenKey {
  readonly needsPerson: boolean;
  /** The time in PostgreSQL's text form, with all its digits. */
  readonly stateSince: string;
  readonly id: UuidV7;
}

export interface OpenState {
  readonly state: RedemptionState;
  readonly count: number;
  /** Time in this state of the redemption that has been in it longest. */
  readonly longestSeconds: number;
  /** Time since the oldest of these redemptions was created. */
  readonly oldestSeconds: number;
}

export interface RedemptionOverview {
  /**
   * The states that are not final and have redemptions. Redemptions settled by hand do not count,
   * because they need no person.
   */
  readonly open: readonly OpenState[];
  /** Redemptions created since the given moment, by their present state. */
  readonly made: readonly { readonly state: RedemptionState; readonly count: number }[];
}

const PREFIX = /^[0-9a-f-]{1,36}$/i;
const DIGITS = 32;

/** Whether a text can be the beginning of an id: hex digits, with or without hyphens. */
export function isIdPrefix(text: string): boolean {
  const digits = text.replaceAll('-', '').length;
  return PREFIX.test(text) && digits > 0 && digits <= DIGITS;
}

interface IdRange {
  readonly lowest: string | null;
  readonly highest: string | null;
}

type Filtered = IdRange &
  OrNull<
    Pick<RedemptionFilter, 'state' | 'partner'> &
      PageRequest<UuidV7> & { readonly wallet?: Buffer | undefined }
  >;

const FILTERED = `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE (:state::text IS NULL OR r.state = :state) AND (:partner::uuid IS NULL OR r.partner = :partner)
      AND (:wallet::bytea IS NULL OR r.wallet = :wallet)
      AND (:lowest::uuid IS NULL OR r.id BETWEEN :lowest AND :highest::uuid) AND (:after::uuid IS NULL OR r.id < :after)`;
/** Sorted by id, because ids of version 7 sort by time. */
const NEWEST = unnamed<Filtered>(`${FILTERED} ORDER BY r.id DESC LIMIT :limit`);
const LONGEST = unnamed<Filtered>(`${FILTERED} ORDER BY r.state_since_at, r.id LIMIT :limit`);

/** The predicate of the index redemption_state, and a part of the predicate of redemption_queue. */
const IS_OPEN = `r.state NOT IN ('claimed', 'reverted', 'failed')`;
/** A redemption that was settled by hand stays in its state for good, and needs no person. */
export const IS_UNSETTLED = `(r.state <> 'attention' OR r.reason IS DISTINCT FROM 'settled-by-hand')`;

const OPEN = unnamed<OrNull<Partial<OpenKey>> & { readonly limit: number }>(
  `SELECT ${READ_COLUMNS}, r.state_since_at::text AS since FROM redemption.redemption r
    WHERE ${IS_OPEN} AND ${IS_UNSETTLED}
      AND (:id::uuid IS NULL OR (r.state <> 'attention', r.state_since_at, r.id) > (NOT :needsPerson::boolean, :stateSince::timestamptz, :id))
    ORDER BY r.state <> 'attention', r.state_since_at, r.id LIMIT :limit`,
);

export const OPEN_STATES = named<object>(
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

  /** The redemptions that have been in their state longest come first. */
  async longest(
    { state, partner, wallet }: Pick<RedemptionFilter, 'state' | 'partner' | 'wallet'>,
    limit: number,
  ): Promise<ReadRows> {
    const bytes = wallet && addressBytes(wallet);
    const asked = orNull({ state, partner, wallet: bytes, limit, after: undefined });
    return readRows(await this.database.query(LONGEST({ ...asked, ...idRange({}) })));
  }

  /**
   * Open redemptions: first those that wait for an operator, then the others. In both groups, those longest in
   * their state come first.
   */
  async open({ limit, after }: PageRequest<OpenKey>): Promise<RedemptionPage<OpenKey>> {
    const { needsPerson, stateSince, id } = after ?? {};
    const statement = OPEN(orNull({ needsPerson, stateSince, id, limit }));
    const rows = await this.database.query<RedemptionRow>(statement);
    return { ...readRows(rows), next: nextKey(rows, limit, openKeyOf) };
  }

  /** @param sinceMs `made` counts the redemptions created from this moment on, whatever their state */
  async overview(sinceMs: number): Promise<RedemptionOverview> {
    const first = idsFrom(sinceMs).padEnd(DIGITS, '0');
    return {
      open: await this.database.query<OpenState>(OPEN_STATES({})),
      made: await this.database.query<RedemptionOverview['made'][number]>(MADE({ first })),
    };
  }
}

/** The first 12 hex digits of the ids that are created at a moment. */
function idsFrom(ms: number): string {
  return ms.toString(16).padStart(12, '0');
}

/** The lowest and the highest id that match the prefix and the time of creation. */
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
