import { type RedemptionState, type UuidV7 } from '#libs/domain';
import { isRefusal } from '../connection/database.error.js';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { LedgerBusyError, RestoreAheadError } from './redemption.error.js';

export interface LedgerRestore {
  /** What happened from this moment on is missing in the ledger. */
  readonly lostSinceMs: number;
  /**
   * Time of the note, later than every redemption in the ledger. The services were stopped, so no
   * voucher was issued later.
   */
  readonly atMs: number;
  /** Unix time in seconds until which a lost voucher can be claimed. */
  readonly vouchersUntilSeconds: number;
}

/** A transition that was seen in the ledger, committed. A ledger that lacks it went back in time. */
export interface SeenTransition {
  readonly redemptionId: UuidV7;
  readonly version: number;
  /** What happened: a ledger that went back may have another transition of this version. */
  readonly event: string;
  /** X-API-REQUEST of the call that it begins; null where it begins none. */
  readonly requestId: UuidV7 | null;
  /** When it was seen, Unix time in milliseconds. */
  readonly atMs: number;
}

/** The ledger went back in time, and no note says so. */
export interface UnnotedRestore {
  /** Since when the ledger is marked. */
  readonly atMs: number;
  /** How it was noticed, for a person. */
  readonly noticed: string;
  /** The earliest moment of which something is known to be missing. */
  readonly missingAtMs: number | undefined;
}

export interface LedgerStanding {
  readonly unnoted: UnnotedRestore | undefined;
  /** The ledger lacks the transition that was seen, and no note explains it. */
  readonly lacksSeen: boolean;
}

/** The time of a note and the lifetime of vouchers. */
export interface RestoreTimes {
  /** By the clock of the machine that makes the note, which may differ from the clocks of the services. */
  readonly nowMs: number;
  /** Seconds after the note for which a lost voucher can be claimed. */
  readonly voucherSeconds: number;
}

export interface RestoreNote extends RestoreTimes {
  /** What happened from this moment on is missing in the ledger. */
  readonly lostSinceMs: number;
  readonly actor: string;
  readonly command: string;
  /** The command's arguments, for the audit. */
  readonly arguments: object;
}

/** Unfinished redemptions without a plan: their number by state. */
export type Unplanned = Readonly<Partial<Record<RedemptionState, number>>>;

/** The redemptions that a note would concern if it were made now, and its times. */
export interface RestoreScope extends Pick<LedgerRestore, 'atMs' | 'vouchersUntilSeconds'> {
  readonly unplanned: Unplanned;
}

/** The time of the note: later than every time that the services wrote by their own clocks. */
const AT = `greatest(:now::timestamptz, now(), (SELECT max(initial_at) + interval '1 millisecond' FROM redemption.redemption))`;
/** Condition under which the table's trigger refuses a note. */
const IS_AHEAD = `n.at > now() + interval '10 minutes'`;
const UNTIL = `(ceil(extract(epoch FROM n.at)) + :voucherSeconds)::bigint`;
const UNPLANNED = `coalesce((SELECT jsonb_object_agg(state, count) FROM (
    SELECT state, count(*) FROM redemption.redemption
    WHERE state NOT IN ('claimed', 'reverted', 'failed') AND plan_amount IS NULL AND initial_at < n.at
    GROUP BY state) AS c), '{}')`;

/**
 * While this lock is held, no transition is written, and a transition that waits for the lock reads the notes
 * afterwards. So a plan is either committed before the note or refused because of it.
 */
const LOCK = `SET LOCAL lock_timeout = '10s'; LOCK TABLE redemption.redemption IN EXCLUSIVE MODE`;

interface ScopeValues {
  readonly now: Date;
  readonly voucherSeconds: number;
}

const SCOPE = named<ScopeValues>(
  'ledger_restore_scope',
  `SELECT n.at, ${IS_AHEAD} AS "isAhead", ${UNTIL} AS until, ${UNPLANNED} AS unplanned FROM (SELECT ${AT} AS at) AS n`,
);

const RECORD = named<
  ScopeValues & { lostSince: Date; actor: string; command: string; arguments: string }
>(
  'ledger_restore_record',
  `WITH n AS MATERIALIZED (SELECT ${AT} AS at), noted AS (
      INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor)
      SELECT n.at, :lostSince, ${UNTIL}, :actor FROM n RETURNING actor
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, arguments, outcome) SELECT actor, :command, :arguments, 'noted' FROM noted
    )
    SELECT n.at, ${IS_AHEAD} AS "isAhead", ${UNTIL} AS until, ${UNPLANNED} AS unplanned FROM n`,
);

const LIST: Statement = {
  name: 'ledger_restore_list',
  text: `SELECT at, lost_since AS since, vouchers_until_seconds AS until FROM redemption.ledger_restore ORDER BY id DESC`,
};

const LONGEST_VOUCHER: Statement = {
  name: 'ledger_longest_voucher',
  text: `SELECT coalesce(max(floor(plan_deadline_seconds - extract(epoch FROM authorised_at))), 0)::int AS seconds
    FROM redemption.redemption WHERE plan_amount IS NOT NULL`,
};

/** A note explains what is missing where it is later, and begins no later. */
const STANDING = named<{
  id: UuidV7 | null;
  version: number | null;
  event: string | null;
  requestId: UuidV7 | null;
  seenAt: Date | null;
}>(
  'ledger_standing',
  `SELECT u.at, u.noticed, (SELECT min(missing_at) FROM redemption.unnoted_restore) AS missing,
      :id::uuid IS NOT NULL
        AND NOT EXISTS (SELECT FROM redemption.transition WHERE redemption_id = :id::uuid AND version = :version::int
          AND event = :event AND (:requestId::uuid IS NULL OR request_id = :requestId::uuid))
        AND NOT EXISTS (SELECT FROM redemption.ledger_restore WHERE at > :seenAt::timestamptz AND lost_since <= :seenAt::timestamptz)
        AS lacks
    FROM (VALUES (1)) AS one LEFT JOIN (SELECT at, noticed FROM redemption.unnoted_restore ORDER BY at LIMIT 1) AS u ON true`,
);

const MARK = named<{ noticed: string; missingAt: Date }>(
  'ledger_mark',
  'INSERT INTO redemption.unnoted_restore (noticed, missing_at) VALUES (:noticed, :missingAt) ON CONFLICT DO NOTHING',
);

interface StandingRow {
  at: Date | null;
  noticed: string | null;
  missing: Date | null;
  lacks: boolean;
}

interface ScopeRow {
  at: Date;
  isAhead: boolean;
  until: string;
  unplanned: Unplanned;
}

/** The restores of this ledger. A trigger on the note marks the redemptions concerned. */
export class LedgerRestoreStore {
  constructor(private readonly database: Database) {}

  /**
   * Writes a note with its audit row, and removes the mark of the restore. A second note for the same loss does no harm. A process that read a redemption
   * before the note can write nothing about it afterwards.
   * @throws LedgerBusyError where other transactions keep the ledger busy; RestoreAheadError;
   * DatabaseUnavailableError, DatabaseRefusedError
   */
  async record(note: RestoreNote): Promise<RestoreScope> {
    const { actor, command } = note;
    const record = RECORD({
      ...scopeValues(note),
      ...{ actor, command },
      lostSince: new Date(note.lostSinceMs),
      arguments: JSON.stringify(note.arguments),
    });
    const recorded = this.database.transaction(async (client) => {
      await client.query(LOCK);
      scopeOf(await run<ScopeRow>(client, SCOPE(scopeValues(note))));
      return scopeOf(await run<ScopeRow>(client, record));
    });
    return recorded.catch((error: unknown) => {
      throw isRefusal(error, 'lock_not_available') ? new LedgerBusyError() : error;
    });
  }

  /** What `record` would return now. @throws RestoreAheadError, DatabaseUnavailableError, DatabaseRefusedError */
  async scope(note: RestoreTimes): Promise<RestoreScope> {
    return scopeOf(await this.database.query<ScopeRow>(SCOPE(scopeValues(note))));
  }

  /** Newest first. */
  async list(): Promise<LedgerRestore[]> {
    const rows = await this.database.query<{ at: Date; since: Date; until: string }>(LIST);
    return rows.map(({ at, since, until }) => ({
      atMs: at.getTime(),
      lostSinceMs: since.getTime(),
      vouchersUntilSeconds: Number(until),
    }));
  }

  /** Whether a restore is not noted, and whether the ledger lacks a transition that was seen before. */
  async standing(seen?: SeenTransition): Promise<LedgerStanding> {
    const [row] = await this.database.query<StandingRow>(
      STANDING({
        id: seen?.redemptionId ?? null,
        version: seen?.version ?? null,
        event: seen?.event ?? null,
        requestId: seen?.requestId ?? null,
        seenAt: seen === undefined ? null : new Date(seen.atMs),
      }),
    );
    if (row === undefined) throw new TypeError('a standing without a row');
    const { at, noticed, missing, lacks } = row;
    const unnoted =
      at === null || noticed === null
        ? undefined
        : { atMs: at.getTime(), noticed, missingAtMs: missing?.getTime() };
    return { unnoted, lacksSeen: lacks };
  }

  /** Marks the ledger as one that went back in time: `record` removes the mark. */
  async mark(noticed: string, missingAtMs: number): Promise<void> {
    await this.database.query(MARK({ noticed, missingAt: new Date(missingAtMs) }));
  }

  /** The longest lifetime of a voucher in the ledger, in seconds; 0 where there is no voucher. */
  async longestVoucherSeconds(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(LONGEST_VOUCHER);
    return row?.seconds ?? 0;
  }
}

function scopeValues({ nowMs, voucherSeconds }: RestoreTimes): ScopeValues {
  return { now: new Date(nowMs), voucherSeconds };
}

function scopeOf([row]: readonly ScopeRow[]): RestoreScope {
  if (row === undefined) throw new TypeError('a note without a row');
  const { at, isAhead, until, unplanned } = row;
  if (isAhead) throw new RestoreAheadError(at.getTime());
  return { atMs: at.getTime(), vouchersUntilSeconds: Number(until), unplanned };
}
