import {
  type Address,
  type PartnerId,
  type Redemption,
  type RedemptionLimits,
  type UuidV7,
  type WalletRecord,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { addressBytes } from '../connection/rows.js';
import {
  createRedemption,
  type IdempotencyKey,
  replayedRedemption,
  walletRecord,
} from './redemption-creation.js';
import { HINT_CHANNEL } from './redemption-hints.js';
import {
  type EvidenceSeal,
  READ_COLUMNS,
  readRows,
  type RedemptionRow,
  type StoredRedemption,
  storedOf,
} from './redemption-row.js';
import { LeaseLostError, type UnreadableRedemptionError } from './redemption.error.js';
import { applyTransition, BY_ID, type CallEnd, type TransitionWrite } from './transition-write.js';

export interface LeaseRequest {
  readonly count: number;
  /** Identifies a lease, 1 character or more. Leases that must not be confused have different owners. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Unix time in milliseconds: leases the rows that are due by then. Default: now, by the database's clock. */
  readonly dueByMs?: number;
}

interface UnreadableRows {
  /** Called for each row that cannot be read. */
  readonly onUnreadable?: (error: UnreadableRedemptionError) => void;
}

export interface RedemptionLeaseRequest extends LeaseRequest, UnreadableRows {}

export interface PayoutTakeRequest extends UnreadableRows {
  readonly count: number;
  /** Unix time in milliseconds: takes the payouts that are due by then. */
  readonly dueByMs: number;
  /** When they are due again. */
  readonly untilMs: number;
}

/** How long a row that cannot be read is left alone. */
const SET_ASIDE_MS = 600_000;

// By the clock of the database, which workers share. `dueBy` null: now. While a restore is not noted, only payouts are
// worked on, which the chain decides.
const LEASE = named<{ count: number; owner: string; leaseMs: number; dueBy: Date | null }>(
  'redemption_lease',
  `WITH picked AS MATERIALIZED (
      SELECT id FROM redemption.redemption
      WHERE next_action_at <= coalesce(:dueBy::timestamptz, now()) AND (leased_until IS NULL OR leased_until <= now())
        AND state <> 'authorised' AND NOT EXISTS (SELECT FROM redemption.unnoted_restore)
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT :count
    )
    UPDATE redemption.redemption r SET leased_until = now() + :leaseMs * interval '1 millisecond', lease_owner = :owner
    FROM picked WHERE r.id = picked.id RETURNING ${READ_COLUMNS}`,
);

const TAKE_PAYOUTS = named<{ count: number; dueBy: Date; until: Date }>(
  'payouts_take',
  `WITH picked AS MATERIALIZED (
      SELECT id FROM redemption.redemption
      WHERE next_action_at <= :dueBy AND (leased_until IS NULL OR leased_until <= now()) AND state = 'authorised'
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT :count
    )
    UPDATE redemption.redemption r SET leased_until = NULL, lease_owner = NULL, next_action_at = :until
    FROM picked WHERE r.id = picked.id RETURNING ${READ_COLUMNS}`,
);

const LEASE_PAYOUT = named<{ id: UuidV7; version: number; owner: string; leaseMs: number }>(
  'payout_lease',
  `UPDATE redemption.redemption SET leased_until = now() + :leaseMs * interval '1 millisecond', lease_owner = :owner
    WHERE id = :id AND version = :version AND state = 'authorised' AND (leased_until IS NULL OR leased_until <= now())
    RETURNING id`,
);

const RENEW = named<{ id: UuidV7; owner: string; leaseMs: number }>(
  'redemption_renew',
  `UPDATE redemption.redemption SET leased_until = now() + :leaseMs * interval '1 millisecond'
    WHERE id = :id AND lease_owner = :owner RETURNING id`,
);

const RELEASE = named<{ id: UuidV7; owner: string }>(
  'redemption_release',
  `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL
    WHERE id = :id AND lease_owner = :owner RETURNING id`,
);

/** A redemption that has changed since it was read keeps its own due time. */
const POSTPONE = named<{ id: UuidV7; version: number; owner: string; until: Date }>(
  'redemption_postpone',
  `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL,
      next_action_at = CASE WHEN version = :version THEN :until ELSE next_action_at END
    WHERE id = :id AND lease_owner = :owner AND next_action_at IS NOT NULL`,
);

/** Postpones rows that cannot be read, so that they do not hold up others. */
const SET_ASIDE = named<{
  ids: string[];
  owner: string | null;
  forMs: number;
  dueBy: Date | null;
}>(
  'redemption_set_aside',
  `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL,
      next_action_at = coalesce(:dueBy::timestamptz, now()) + :forMs * interval '1 millisecond'
    WHERE id = ANY (:ids::uuid[]) AND lease_owner IS NOT DISTINCT FROM :owner::text`,
);

/** Only after a revert that was not sent: the due time of others comes from a call that may have reached the partner. */
const MAKE_DUE = named<{ partner: PartnerId; now: Date }>(
  'redemption_hasten',
  `WITH hastened AS (
      UPDATE redemption.redemption r SET next_action_at = :now
      WHERE r.partner = :partner AND r.state = 'reverting' AND r.next_action_at > :now
        AND (r.leased_until IS NULL OR r.leased_until <= now())
        AND EXISTS (SELECT FROM redemption.transition t
          WHERE t.redemption_id = r.id AND t.version = r.version AND t.event = 'revert-not-sent')
      RETURNING r.id)
    SELECT count(*)::int AS count, CASE WHEN count(*) > 0 THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM hastened`,
);

/** Tokens of open redemptions that may still be paid: the points are being taken, or a voucher can be claimed. */
const PROMISED = named<object>(
  'redemption_promised',
  `SELECT redemption.reserved_tokens('payouts')::text AS tokens`,
);

const OF_WALLET = named<{ id: UuidV7; wallet: Buffer }>(
  'redemption_of_wallet',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r WHERE r.id = :id AND r.wallet = :wallet`,
);

/** Newest first, because ids of version 7 sort by time. */
const LIST = named<{ wallet: Buffer; after: string | null; limit: number }>(
  'redemption_list',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE r.wallet = :wallet AND (:after::uuid IS NULL OR r.id < :after) ORDER BY r.id DESC LIMIT :limit`,
);

const BEGIN_CALL = named<{ requestId: UuidV7; partner: PartnerId }>(
  'call_begin',
  `INSERT INTO redemption.partner_call (request_id, partner, step) VALUES (:requestId, :partner, 'balance')`,
);

const END_CALL = named<{ requestId: UuidV7; outcome: string; record: string }>(
  'call_end',
  `UPDATE redemption.partner_call SET ended_at = clock_timestamp(), outcome = :outcome, record = :record
    WHERE request_id = :requestId AND ended_at IS NULL RETURNING request_id`,
);

/**
 * The redemptions. Each row is also its own queue entry. No transaction stays open between two calls of this class: a
 * worker's write succeeds only under the version that it read and under its lease.
 */
export class RedemptionStore {
  /** @param seal absent in a program without the keys, which neither writes nor verifies MACs */
  constructor(
    private readonly database: Database,
    private readonly seal?: EvidenceSeal,
  ) {}

  /**
   * Creates a redemption within the limits, or returns the one that this key created before. Creations of one wallet
   * happen one after the other. Nothing is reserved yet; see `TransitionWrite.reserve`: the check of the budgets only
   * avoids a redemption that would be refused later.
   * @param redemption from `newRedemption`
   * @throws IdempotencyConflictError, LimitBreachedError, DatabaseRefusedError; RedemptionBusyError,
   * RestoreNotNotedError and DatabaseUnavailableError, after which a retry needs the same key
   */
  create(
    redemption: Redemption,
    idempotency: IdempotencyKey,
    limits: RedemptionLimits,
  ): Promise<{ readonly redemption: Redemption; readonly isNew: boolean }> {
    const { database, seal } = this;
    return createRedemption(database, redemption, idempotency, { limits, seal });
  }

  /**
   * The redemption that this key created before. Callers ask before they make a quote, so that a repeated request does
   * not depend on today's price.
   * @throws IdempotencyConflictError
   */
  replayed(wallet: Address, idempotency: IdempotencyKey): Promise<Redemption | undefined> {
    return replayedRedemption(this.database, wallet, idempotency);
  }

  /** The figures that a creation would be checked against at this moment, for a quote. They promise nothing. */
  walletRecord(wallet: Address, partner: PartnerId, nowMs: number): Promise<WalletRecord> {
    const { database } = this;
    return walletRecord((statement) => database.query(statement), { wallet, partner }, nowMs);
  }

  /** Tokens that open redemptions may still be paid, in the smallest unit. */
  async promisedTokens(): Promise<bigint> {
    const [row] = await this.database.query<{ tokens: string }>(PROMISED({}));
    return BigInt(row?.tokens ?? 0);
  }

  /**
   * Leases up to `count` due redemptions that no worker has leased, those due longest first, without those whose payout
   * is authorised. Redemptions that cannot be read are set aside for ten minutes, and others are leased in their place.
   */
  async lease(request: RedemptionLeaseRequest): Promise<StoredRedemption[]> {
    const { owner, leaseMs } = request;
    const dueBy = request.dueByMs === undefined ? null : new Date(request.dueByMs);
    const leased = await this.readable({ ...request, dueBy }, (count) =>
      LEASE({ count, owner, leaseMs, dueBy }),
    );
    return leased.sort(
      (a, b) => (a.redemption.nextActionAtMs ?? 0) - (b.redemption.nextActionAtMs ?? 0),
    );
  }

  /**
   * Takes up to `count` due redemptions whose payout is authorised and that no worker has leased, to observe their
   * payouts. They are due again at `untilMs`, and not leased: an open payout needs no other write. Rows that cannot be
   * read are treated as `lease` does.
   */
  takePayouts(request: PayoutTakeRequest): Promise<StoredRedemption[]> {
    const dueBy = new Date(request.dueByMs);
    const until = new Date(request.untilMs);
    return this.readable({ ...request, owner: null, dueBy }, (count) =>
      TAKE_PAYOUTS({ count, dueBy, until }),
    );
  }

  /**
   * Leases a redemption that was taken, for the write of what was observed.
   * @returns false where it has changed since, or a worker has leased it
   */
  async leasePayout({ id, version }: Redemption, owner: string, leaseMs: number): Promise<boolean> {
    const rows = await this.database.query(LEASE_PAYOUT({ id, version, owner, leaseMs }));
    return rows.length > 0;
  }

  /** @throws LeaseLostError */
  async renew(id: UuidV7, owner: string, leaseMs: number): Promise<void> {
    const rows = await this.database.query(RENEW({ id, owner, leaseMs }));
    if (rows.length === 0) throw new LeaseLostError(id);
  }

  /** @returns false where this owner does not have the lease any more */
  async release(id: UuidV7, owner: string): Promise<boolean> {
    return (await this.database.query(RELEASE({ id, owner }))).length > 0;
  }

  /** Releases the lease of a redemption about which nothing was learnt, and makes it due again at `untilMs`. */
  async postpone({ id, version }: Redemption, owner: string, untilMs: number): Promise<void> {
    await this.database.query(POSTPONE({ id, version, owner, until: new Date(untilMs) }));
  }

  /**
   * Makes the partner's redemptions due whose last revert was not sent, because the partner answers again.
   * @returns number of these redemptions
   */
  async makeDueNow(partner: PartnerId, nowMs: number): Promise<number> {
    const statement = MAKE_DUE({ partner, now: new Date(nowMs) });
    const [row] = await this.database.query<{ count: number }>(statement);
    return row?.count ?? 0;
  }

  /**
   * Writes one transition, all or nothing: the row of the redemption, the rows of the transition and of calls
   * that begin or end, the confirmation and the audit row. A call that the transition begins may be made only
   * after this has returned.
   * After a DatabaseUnavailableError the transition may have been written: the caller has to read the redemption and
   * must not make the call.
   * @throws StaleRedemptionError, LeaseLostError, PartnerIdReusedError, ReservationRefusedError,
   * RedemptionMissingError, RestoreNotNotedError, DatabaseUnavailableError, DatabaseRefusedError
   */
  async apply(write: TransitionWrite): Promise<void> {
    await applyTransition(this.database, write, this.seal);
  }

  /** For workers and operators. @throws UnreadableRedemptionError */
  async get(id: UuidV7): Promise<StoredRedemption | undefined> {
    const [row] = await this.database.query<RedemptionRow>(BY_ID({ id }));
    return row && storedOf(row, this.seal);
  }

  /** For users: finds only redemptions of this wallet. @throws UnreadableRedemptionError */
  async find(wallet: Address, id: UuidV7): Promise<StoredRedemption | undefined> {
    const statement = OF_WALLET({ id, wallet: addressBytes(wallet) });
    const [row] = await this.database.query<RedemptionRow>(statement);
    return row && storedOf(row, this.seal);
  }

  /**
   * A wallet's redemptions, newest first, without those that cannot be read.
   * @param before last id of the previous page
   */
  async list(wallet: Address, limit: number, before?: UuidV7): Promise<StoredRedemption[]> {
    const listed: StoredRedemption[] = [];
    for (let after: string | null = before ?? null; ;) {
      const wanted: number = limit - listed.length;
      const statement = LIST({ wallet: addressBytes(wallet), after, limit: wanted });
      const rows: RedemptionRow[] = await this.database.query(statement);
      listed.push(...readRows(rows, this.seal).found);
      const last = rows.at(-1);
      if (last === undefined || rows.length < wanted || listed.length === limit) return listed;
      after = last.id;
    }
  }

  /** Logs the start of a balance read, which belongs to no redemption. */
  async beginBalanceCall(partner: PartnerId, requestId: UuidV7): Promise<void> {
    await this.database.query(BEGIN_CALL({ requestId, partner }));
  }

  /**
   * Logs the end of a call outside of a transition: of a balance read, or of a call that ended too late to count.
   * @returns false where the end is already known
   */
  async endCall({ requestId, outcome, record }: CallEnd): Promise<boolean> {
    const statement = END_CALL({ requestId, outcome, record: JSON.stringify(record) });
    return (await this.database.query(statement)).length > 0;
  }

  /** @param pick leases or takes rows */
  private async readable(
    request: UnreadableRows & {
      readonly count: number;
      readonly owner: string | null;
      readonly dueBy: Date | null;
    },
    pick: (count: number) => Statement,
  ): Promise<StoredRedemption[]> {
    const { owner, dueBy, onUnreadable } = request;
    const picked: StoredRedemption[] = [];
    for (let { count } = request; count > 0;) {
      const rows = await this.database.query<RedemptionRow>(pick(count));
      const { found, unreadable } = readRows(rows, this.seal);
      picked.push(...found);
      if (unreadable.length > 0) {
        const ids = unreadable.map(({ redemptionId }) => redemptionId);
        await this.database.query(SET_ASIDE({ ids, owner, forMs: SET_ASIDE_MS, dueBy }));
        for (const error of unreadable) onUnreadable?.(error);
      }
      count = unreadable.length;
    }
    return picked;
  }
}
