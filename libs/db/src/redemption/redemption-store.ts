import {
  type Address,
  evidenceContent,
  type Redemption,
  type RedemptionLimits,
  type ReservationRefusal,
  type UuidV7,
} from '#libs/domain';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { type Database } from '../connection/database.js';
import { run } from '../connection/statement.js';
import { type CallEnd } from './call-log-entry.js';
import {
  IdempotencyConflictError,
  LeaseLostError,
  RedemptionBusyError,
  RedemptionMissingError,
  ReservationRefusedError,
  StaleRedemptionError,
  type UnreadableRedemptionError,
} from './redemption.error.js';
import { type EvidenceSeal } from './evidence-seal.js';
import { refuseOverBudget } from './refuse-over-budget.js';
import { reusedId } from './reused-id.js';
import { type RedemptionRow } from './redemption-columns.js';
import {
  addressBytes,
  at,
  stateValues,
  type StoredRedemption,
  termValues,
} from './redemption-row.js';
import { readRows, storedOf } from './read-rows.js';
import { reservationValues } from './reservation-limits.js';
import * as sql from './redemption.statements.js';
import { applyValues, type TransitionWrite } from './transition-write.js';
import { refuseCoolingDown, unclaimedVouchers } from './unclaimed-vouchers.js';

export interface IdempotencyKey {
  /** The wallet's own; 1 to 255 characters. */
  readonly key: string;
  /** SHA-256 of the request's body. */
  readonly bodyHash: Buffer;
}

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
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * The redemptions, each row of which is also its own queue entry. No transaction stays open between two calls of this class;
 * what a worker read is written under the version it read, and under its lease.
 */
export class RedemptionStore {
  /** @param seal who has no keys writes no MAC and finds none */
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
  async create(
    redemption: Redemption,
    idempotency: IdempotencyKey,
    limits: RedemptionLimits,
  ): Promise<{ readonly redemption: Redemption; readonly isNew: boolean }> {
    const { wallet } = redemption;
    const created = this.database.transaction(async (client) => {
      await run(client, sql.LOCK_WALLET, [wallet]);
      const rows = await run<ReplayRow>(client, sql.REPLAYED, [
        addressBytes(wallet),
        idempotency.key,
      ]);
      const before = replayOf(rows, idempotency);
      if (before !== undefined) return { redemption: before, isNew: false };
      const unclaimed = await unclaimedVouchers(client, redemption);
      refuseCoolingDown(unclaimed, redemption, limits);
      await refuseOverBudget(client, redemption, limits, unclaimed);
      await run(client, sql.CREATE, [
        idempotency.key,
        idempotency.bodyHash,
        'user',
        this.macOfNew(redemption),
        ...termValues(redemption),
        ...stateValues(redemption),
      ]);
      return { redemption, isNew: true };
    });
    return created.catch((error: unknown) => {
      throw isLockTimeout(error) ? new RedemptionBusyError() : error;
    });
  }

  /**
   * What this key made before, to be asked before a quote is made: a repeated request does not depend on today's price.
   * @throws IdempotencyConflictError
   */
  async replayed(wallet: Address, idempotency: IdempotencyKey): Promise<Redemption | undefined> {
    const values = [addressBytes(wallet), idempotency.key];
    return replayOf(await this.database.query<ReplayRow>(sql.REPLAYED, values), idempotency);
  }

  /** Tokens that open redemptions may still be paid, in the smallest unit. */
  async promisedTokens(): Promise<bigint> {
    const [row] = await this.database.query<{ tokens: string }>(sql.PROMISED);
    return BigInt(row?.tokens ?? 0);
  }

  /**
   * Up to `count` due redemptions that no worker has leased, the longest due first; no other worker gets them until the lease ends. Those that cannot
   * be read are set aside for ten minutes, and others are leased in their place.
   */
  async lease(request: RedemptionLeaseRequest): Promise<StoredRedemption[]> {
    const { owner, leaseMs, authorised, onUnreadable } = request;
    const dueBy = at(request.dueByMs ?? null);
    const leased: StoredRedemption[] = [];
    for (let count = request.count; count > 0;) {
      const values = [count, owner, leaseMs, dueBy, authorised ?? null];
      const rows = await this.database.query<RedemptionRow>(sql.LEASE, values);
      const { found, unreadable } = readRows(rows, this.seal);
      leased.push(...found);
      if (unreadable.length > 0) {
        const ids = unreadable.map(({ redemptionId }) => redemptionId);
        await this.database.query(sql.SET_ASIDE, [ids, owner, SET_ASIDE_MS, dueBy]);
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
    const rows = await this.database.query(sql.RENEW, [id, owner, leaseMs]);
    if (rows.length === 0) throw new LeaseLostError(id);
  }

  /** @returns false where it was not this owner's any more, which is no fault */
  async release(id: UuidV7, owner: string): Promise<boolean> {
    return (await this.database.query(sql.RELEASE, [id, owner])).length > 0;
  }

  /** Gives back the leases of redemptions of which there was nothing to learn; they are due again at that moment. */
  async postpone(
    seen: readonly Pick<Redemption, 'id' | 'version'>[],
    owner: string,
    untilMs: number,
  ): Promise<void> {
    if (seen.length === 0) return;
    const ids = seen.map(({ id }) => id);
    const versions = seen.map(({ version }) => version);
    await this.database.query(sql.POSTPONE, [ids, versions, owner, at(untilMs)]);
  }

  /**
   * The partner answers again: its redemptions whose last revert never left are due now.
   * @returns how many
   */
  async hasten(partner: string, nowMs: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(sql.HASTEN, [partner, at(nowMs)]);
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
    const { before, owner } = write;
    const rows = await this.database
      .query(sql.APPLY, applyValues(write, this.seal))
      .catch((error: unknown) => {
        throw reusedId(error, before.id) ?? error;
      });
    if (rows.length > 0) return;
    const [row] = await this.database.query<LeasedRow>(sql.BY_ID, [before.id]);
    if (row === undefined) throw new RedemptionMissingError(before.id);
    if (owner !== undefined && row.lease_owner !== owner) throw new LeaseLostError(before.id);
    await this.refuseUnreserved(write, row);
    throw new StaleRedemptionError(before.id);
  }

  /** Where meanwhile it could be reserved, the redemption is only to be read again. */
  private async refuseUnreserved(
    { before: { id, version }, reserve }: TransitionWrite,
    row: LeasedRow,
  ): Promise<void> {
    if (reserve === undefined || row.version !== version) return;
    const values = [id, ...reservationValues(reserve)];
    const [refused] = await this.database.query<{ reason: ReservationRefusal | null }>(
      sql.REFUSED_RESERVATION,
      values,
    );
    const reason = refused?.reason ?? null;
    if (reason !== null) throw new ReservationRefusedError(id, reason);
  }

  /** For workers and operators. @throws UnreadableRedemptionError */
  async get(id: UuidV7): Promise<StoredRedemption | undefined> {
    const [row] = await this.database.query<RedemptionRow>(sql.BY_ID, [id]);
    return row && storedOf(row, this.seal);
  }

  /** For users: of another wallet, it is not there. @throws UnreadableRedemptionError */
  async find(wallet: Address, id: UuidV7): Promise<StoredRedemption | undefined> {
    const values = [id, addressBytes(wallet)];
    const [row] = await this.database.query<RedemptionRow>(sql.OF_WALLET, values);
    return row && storedOf(row, this.seal);
  }

  /** A wallet's redemptions, newest first, without those that cannot be read. @param before the id that the page before ended with */
  async list(wallet: Address, limit: number, before?: UuidV7): Promise<StoredRedemption[]> {
    const listed: StoredRedemption[] = [];
    for (let after: string | null = before ?? null; ;) {
      const wanted: number = limit - listed.length;
      const values = [addressBytes(wallet), after, wanted];
      const rows: RedemptionRow[] = await this.database.query(sql.LIST, values);
      listed.push(...readRows(rows, this.seal).found);
      const last = rows.at(-1);
      if (last === undefined || rows.length < wanted || listed.length === limit) return listed;
      after = last.id;
    }
  }

  private macOfNew(redemption: Redemption): Buffer | null {
    const content = evidenceContent(redemption, null);
    return this.seal === undefined || content === undefined ? null : this.seal.mac(content);
  }

  /** The log of a call that belongs to no redemption: a balance. */
  async beginBalanceCall(partner: string, requestId: UuidV7): Promise<void> {
    await this.database.query(sql.BEGIN_CALL, [requestId, partner]);
  }

  /**
   * The end of a call outside of a transition: of a balance, or one that came too late to count.
   * @returns false where its end is known already
   */
  async endCall({ requestId, outcome, record }: CallEnd): Promise<boolean> {
    const values = [requestId, outcome, JSON.stringify(record)];
    return (await this.database.query(sql.END_CALL, values)).length > 0;
  }
}

interface ReplayRow extends RedemptionRow {
  body_hash: Buffer;
}

interface LeasedRow extends RedemptionRow {
  lease_owner: string | null;
}

function replayOf(rows: readonly ReplayRow[], { bodyHash }: IdempotencyKey) {
  const [row] = rows;
  if (row === undefined) return undefined;
  if (!row.body_hash.equals(bodyHash)) throw new IdempotencyConflictError();
  return storedOf(row).redemption;
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseRefusedError && error.sqlState === LOCK_NOT_AVAILABLE;
}
