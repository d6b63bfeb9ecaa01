import {
  type Address,
  type Redemption,
  type RedemptionLimits,
  type UuidV7,
  type WalletRecord,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes } from '../rows.js';
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
  /** Another one for each lease that must not be mistaken for this one; 1 character or more. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Rows that are due up to this moment; by default those that are due by the database's clock. */
  readonly dueByMs?: number;
}

export interface RedemptionLeaseRequest extends LeaseRequest {
  /** Only those whose payout is authorised, or only the others; by default all. */
  readonly authorised?: boolean;
  /** Told of each row that cannot be read. */
  readonly onUnreadable?: (error: UnreadableRedemptionError) => void;
}

/** How long a row that cannot be read is left alone. */
const SET_ASIDE_MS = 600_000;

/** Leases run by the database's clock, which all workers share; `dueBy` is null for now, `authorised` for either. */
const LEASE = named<{
  count: number;
  owner: string;
  leaseMs: number;
  dueBy: Date | null;
  authorised: boolean | null;
}>(
  'redemption_lease',
  `WITH picked AS MATERIALIZED (
      SELECT id FROM redemption.redemption
      WHERE next_action_at <= coalesce(:dueBy::timestamptz, now()) AND (leased_until IS NULL OR leased_until <= now())
        AND (:authorised::boolean IS NULL OR (state = 'authorised') = :authorised)
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT :count
    )
    UPDATE redemption.redemption r SET leased_until = now() + :leaseMs * interval '1 millisecond', lease_owner = :owner
    FROM picked WHERE r.id = picked.id RETURNING ${READ_COLUMNS}`,
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

/** One that has moved on keeps its own time. */
const POSTPONE = named<{ ids: UuidV7[]; versions: number[]; owner: string; until: Date }>(
  'redemption_postpone',
  `UPDATE redemption.redemption r SET leased_until = NULL, lease_owner = NULL,
      next_action_at = CASE WHEN r.version = seen.version THEN :until ELSE r.next_action_at END
    FROM unnest(:ids::uuid[], :versions::int[]) AS seen (id, version)
    WHERE r.id = seen.id AND r.lease_owner = :owner AND r.next_action_at IS NOT NULL`,
);

/** Those that cannot be read, so that they hold up no others. */
const SET_ASIDE = named<{ ids: string[]; owner: string; forMs: number; dueBy: Date | null }>(
  'redemption_set_aside',
  `UPDATE redemption.redemption SET leased_until = NULL, lease_owner = NULL,
      next_action_at = coalesce(:dueBy::timestamptz, now()) + :forMs * interval '1 millisecond'
    WHERE id = ANY (:ids::uuid[]) AND lease_owner = :owner`,
);

/** Only those whose newest transition is a revert that never left: others wait for what the partner said. */
const HASTEN = named<{ partner: string; now: Date }>(
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

/** What is open and may still be paid: the points are being taken, or a voucher is out. */
const PROMISED = named<object>(
  'redemption_promised',
  `SELECT redemption.reserved_tokens('payouts')::text AS tokens`,
);

const OF_WALLET = named<{ id: UuidV7; wallet: Buffer }>(
  'redemption_of_wallet',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r WHERE r.id = :id AND r.wallet = :wallet`,
);

/** Newest first: ids of version 7 sort by time. */
const LIST = named<{ wallet: Buffer; after: string | null; limit: number }>(
  'redemption_list',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE r.wallet = :wallet AND (:after::uuid IS NULL OR r.id < :after) ORDER BY r.id DESC LIMIT :limit`,
);

const BEGIN_CALL = named<{ requestId: UuidV7; partner: string }>(
  'call_begin',
  `INSERT INTO redemption.partner_call (request_id, partner, step) VALUES (:requestId, :partner, 'balance')`,
);

const END_CALL = named<{ requestId: UuidV7; outcome: string; record: string }>(
  'call_end',
  `UPDATE redemption.partner_call SET ended_at = clock_timestamp(), outcome = :outcome, record = :record
    WHERE request_id = :requestId AND ended_at IS NULL RETURNING request_id`,
);

/**
 * The redemptions, each row of which is also its own queue entry. No transaction stays open between two calls of this class;
 * what a worker read is written under the version it read, and under its lease.
 */
export class RedemptionStore {
  /** @param seal absent where there are no keys: no MAC is written or found then */
  constructor(
    private readonly database: Database,
    private readonly seal?: EvidenceSeal,
  ) {}

  /**
   * A new redemption within the limits, or the one that this key made before. Creations of one wallet happen one after the other.
   * Nothing is reserved yet: that it fits into the budgets now only spares a wait, see `TransitionWrite.reserve`.
   *
   * @param redemption from `newRedemption`
   * @throws IdempotencyConflictError, LimitBreachedError, DatabaseRefusedError; RedemptionBusyError and DatabaseUnavailableError
   * (try again with the same key)
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
   * What this key made before, to be asked before a quote is made: a repeated request does not depend on today's price.
   * @throws IdempotencyConflictError
   */
  replayed(wallet: Address, idempotency: IdempotencyKey): Promise<Redemption | undefined> {
    return replayedRedemption(this.database, wallet, idempotency);
  }

  /** What a creation of this moment would be held against: for a quote, which promises nothing. */
  walletRecord(wallet: Address, partner: string, nowMs: number): Promise<WalletRecord> {
    const { database } = this;
    return walletRecord((statement) => database.query(statement), { wallet, partner }, nowMs);
  }

  /** Tokens that open redemptions may still be paid, in the smallest unit. */
  async promisedTokens(): Promise<bigint> {
    const [row] = await this.database.query<{ tokens: string }>(PROMISED({}));
    return BigInt(row?.tokens ?? 0);
  }

  /**
   * Up to `count` due redemptions that no worker has leased, the longest due first; no other worker gets them until the lease ends. Those that cannot
   * be read are set aside for ten minutes, and others are leased in their place.
   */
  async lease(request: RedemptionLeaseRequest): Promise<StoredRedemption[]> {
    const { owner, leaseMs, authorised = null, onUnreadable } = request;
    const dueBy = request.dueByMs === undefined ? null : new Date(request.dueByMs);
    const leased: StoredRedemption[] = [];
    for (let count = request.count; count > 0;) {
      const rows = await this.database.query<RedemptionRow>(
        LEASE({ count, owner, leaseMs, dueBy, authorised }),
      );
      const { found, unreadable } = readRows(rows, this.seal);
      leased.push(...found);
      if (unreadable.length > 0) {
        const ids = unreadable.map(({ redemptionId }) => redemptionId);
        await this.database.query(SET_ASIDE({ ids, owner, forMs: SET_ASIDE_MS, dueBy }));
        for (const error of unreadable) onUnreadable?.(error);
      }
      count = unreadable.length;
    }
    return leased.sort(
      (a, b) => (a.redemption.nextActionAtMs ?? 0) - (b.redemption.nextActionAtMs ?? 0),
    );
  }

  /** @throws LeaseLostError */
  async renew(id: UuidV7, owner: string, leaseMs: number): Promise<void> {
    const rows = await this.database.query(RENEW({ id, owner, leaseMs }));
    if (rows.length === 0) throw new LeaseLostError(id);
  }

  /** @returns false where it was not this owner's any more, which is no fault */
  async release(id: UuidV7, owner: string): Promise<boolean> {
    return (await this.database.query(RELEASE({ id, owner }))).length > 0;
  }

  /** Gives back the leases of redemptions of which there was nothing to learn; they are due again at that moment. */
  async postpone(seen: readonly Redemption[], owner: string, untilMs: number): Promise<void> {
    if (seen.length === 0) return;
    const ids = seen.map(({ id }) => id);
    const versions = seen.map(({ version }) => version);
    await this.database.query(POSTPONE({ ids, versions, owner, until: new Date(untilMs) }));
  }

  /**
   * The partner answers again: its redemptions whose last revert never left are due now.
   * @returns how many
   */
  async hasten(partner: string, nowMs: number): Promise<number> {
    const statement = HASTEN({ partner, now: new Date(nowMs) });
    const [row] = await this.database.query<{ count: number }>(statement);
    return row?.count ?? 0;
  }

  /**
   * Writes one transition: the row, the transition's row, the calls that begin and end with it, the confirmation and the
   * audit's row, all or none. Where it begins a call, that call may be made once this has returned, and only then.
   *
   * After a DatabaseUnavailableError it may have been written: read the redemption, and make no call.
   * @throws StaleRedemptionError, LeaseLostError, PartnerIdReusedError, ReservationRefusedError, RedemptionMissingError,
   * DatabaseUnavailableError, DatabaseRefusedError
   */
  async apply(write: TransitionWrite): Promise<void> {
    await applyTransition(this.database, write, this.seal);
  }

  /** For workers and operators. @throws UnreadableRedemptionError */
  async get(id: UuidV7): Promise<StoredRedemption | undefined> {
    const [row] = await this.database.query<RedemptionRow>(BY_ID({ id }));
    return row && storedOf(row, this.seal);
  }

  /** For users: of another wallet, it is not there. @throws UnreadableRedemptionError */
  async find(wallet: Address, id: UuidV7): Promise<StoredRedemption | undefined> {
    const statement = OF_WALLET({ id, wallet: addressBytes(wallet) });
    const [row] = await this.database.query<RedemptionRow>(statement);
    return row && storedOf(row, this.seal);
  }

  /** A wallet's redemptions, newest first, without those that cannot be read. @param before the id that the page before ended with */
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

  /** The log of a call that belongs to no redemption: a balance. */
  async beginBalanceCall(partner: string, requestId: UuidV7): Promise<void> {
    await this.database.query(BEGIN_CALL({ requestId, partner }));
  }

  /**
   * The end of a call outside of a transition: of a balance, or one that came too late to count.
   * @returns false where its end is known already
   */
  async endCall({ requestId, outcome, record }: CallEnd): Promise<boolean> {
    const statement = END_CALL({ requestId, outcome, record: JSON.stringify(record) });
    return (await this.database.query(statement)).length > 0;
  }
}
