/**
 * Confirmations to partners (rule H in docs/redemption.md): a queue of their own that works like
 * the queue of redemptions.
 */
import { type Delivery, type PartnerId, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { HINT_CHANNEL } from './redemption-hints.js';
import { type LeaseRequest } from './redemption-store.js';
import {
  LeaseLostError,
  RedemptionMissingError,
  StaleRedemptionError,
} from './redemption.error.js';
import { type CallEnd } from './transition-write.js';

export interface StoredDelivery {
  readonly redemptionId: UuidV7;
  readonly partner: PartnerId;
  /** Canonical JSON: the bytes to sign and send. */
  readonly payload: string;
  readonly delivery: Delivery;
}

export interface DeliveryWrite {
  readonly redemptionId: UuidV7;
  /** The delivery as it was read. */
  readonly before: Delivery;
  readonly next: Delivery;
  /** Owner of the lease; absent for a replay by an operator. */
  readonly owner?: string;
  /** Also releases the lease. A write without a next attempt always does. */
  readonly release?: boolean;
  readonly callEnd?: CallEnd;
  readonly audit?: { readonly actor: string; readonly command: string };
}

const ms = (column: string): string => `floor(extract(epoch FROM c.${column}) * 1000)::float8`;
const COLUMNS = `c.redemption_id AS "redemptionId", c.partner, c.payload, c.state, c.version, c.attempts,
    ${ms('first_attempt_at')} AS "firstAttemptAtMs", c.open_request_id AS "openRequestId",
    ${ms('next_action_at')} AS "nextActionAtMs", ${ms('delivered_at')} AS "deliveredAtMs"`;

type DeliveryRow = Delivery & Omit<StoredDelivery, 'delivery'>;

/** Works like the lease of redemptions in redemption-store.ts. */
const LEASE = named<{ count: number; owner: string; leaseMs: number; dueBy: Date | null }>(
  'confirmation_lease',
  `WITH picked AS MATERIALIZED (
      SELECT redemption_id FROM redemption.confirmation
      WHERE next_action_at <= coalesce(:dueBy::timestamptz, now()) AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT :count
    )
    UPDATE redemption.confirmation c SET leased_until = now() + :leaseMs * interval '1 millisecond', lease_owner = :owner
    FROM picked WHERE c.redemption_id = picked.redemption_id RETURNING ${COLUMNS}`,
);

/** This worker has the lease, so no other has changed the row. */
const POSTPONE = named<{ id: UuidV7; version: number; owner: string; until: Date }>(
  'confirmation_postpone',
  `UPDATE redemption.confirmation SET leased_until = NULL, lease_owner = NULL,
      version = version + 1, next_action_at = :until
    WHERE redemption_id = :id AND version = :version AND lease_owner = :owner`,
);

/**
 * Only confirmations whose last attempt sent nothing. The others have their due time from a call that may
 * have reached the partner.
 */
const HASTEN = named<{ partner: PartnerId; now: Date }>(
  'confirmation_hasten',
  `WITH hastened AS (
      UPDATE redemption.confirmation c SET version = c.version + 1, next_action_at = :now
      WHERE c.partner = :partner AND c.next_action_at > :now AND (c.leased_until IS NULL OR c.leased_until <= now())
        AND (SELECT p.outcome FROM redemption.partner_call p
          WHERE p.redemption_id = c.redemption_id AND p.step = 'confirm'
          ORDER BY p.begun_at DESC LIMIT 1) = 'nothing-sent'
      RETURNING c.redemption_id)
    SELECT count(*)::int AS count, CASE WHEN count(*) > 0 THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM hastened`,
);

/** A request id that is new in the row begins a call. Row and call are written in one statement, as rule A demands. */
const APPLY = named<Record<string, unknown>>(
  'confirmation_apply',
  `WITH moved AS (
      UPDATE redemption.confirmation SET state = :state, version = :version, attempts = :attempts,
        first_attempt_at = :firstAttemptAt, open_request_id = :openRequestId, next_action_at = :nextActionAt,
        delivered_at = :deliveredAt,
        undelivered_at = CASE WHEN :state = 'undelivered' THEN coalesce(undelivered_at, clock_timestamp()) END,
        leased_until = CASE WHEN :release THEN NULL ELSE leased_until END,
        lease_owner = CASE WHEN :release THEN NULL ELSE lease_owner END
      WHERE redemption_id = :id AND version = :readVersion AND (:owner::text IS NULL OR lease_owner = :owner)
      RETURNING redemption_id, partner, open_request_id
    ), begun AS (
      INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step)
      SELECT open_request_id, redemption_id, partner, 'confirm' FROM moved WHERE :isNewCall AND open_request_id IS NOT NULL
    ), ended AS (
      UPDATE redemption.partner_call p SET ended_at = clock_timestamp(), outcome = :outcome, record = :record::jsonb
      FROM moved WHERE p.request_id = :ended::uuid AND p.redemption_id = moved.redemption_id AND p.ended_at IS NULL
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, redemption_id, partner, outcome)
      SELECT :actor, :command, redemption_id, partner, 'done' FROM moved WHERE :command::text IS NOT NULL
    )
    SELECT redemption_id, CASE WHEN :command::text IS NOT NULL THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM moved`,
);

const BY_ID = named<{ id: UuidV7 }>(
  'confirmation_by_id',
  `SELECT ${COLUMNS} FROM redemption.confirmation c WHERE c.redemption_id = :id`,
);

const LEASE_OWNER = named<{ id: UuidV7 }>(
  'confirmation_lease_owner',
  'SELECT lease_owner AS owner FROM redemption.confirmation WHERE redemption_id = :id',
);

const UNDELIVERED = named<{ limit: number }>(
  'confirmation_undelivered',
  `SELECT ${COLUMNS} FROM redemption.confirmation c
    WHERE c.undelivered_at IS NOT NULL ORDER BY c.undelivered_at LIMIT :limit`,
);

export class DeliveryStore {
  constructor(private readonly database: Database) {}

  async lease({ count, owner, leaseMs, dueByMs }: LeaseRequest): Promise<StoredDelivery[]> {
    const statement = LEASE({ count, owner, leaseMs, dueBy: momentOf(dueByMs ?? null) });
    return (await this.database.query<DeliveryRow & object>(statement)).map(deliveryOf);
  }

  /** Releases the lease and sets the time of the next look, where nothing was learnt. */
  async postpone(
    { redemptionId: id, delivery }: StoredDelivery,
    owner: string,
    untilMs: number,
  ): Promise<void> {
    const { version } = delivery;
    await this.database.query(POSTPONE({ id, version, owner, until: new Date(untilMs) }));
  }

  /**
   * Makes the partner's confirmations due whose last attempt sent nothing, because the partner answers again.
   * @returns number of these confirmations
   */
  async makeDueNow(partner: PartnerId, nowMs: number): Promise<number> {
    const statement = HASTEN({ partner, now: new Date(nowMs) });
    const [row] = await this.database.query<{ count: number }>(statement);
    return row?.count ?? 0;
  }

  /**
   * Writes one step of a delivery with its call rows. A call that the step begins may be made only
   * after this has returned.
   * @throws StaleRedemptionError, LeaseLostError, RedemptionMissingError (no confirmation is owed),
   * DatabaseUnavailableError
   */
  async apply(write: DeliveryWrite): Promise<void> {
    const { redemptionId: id, before, next, owner, callEnd, audit } = write;
    const rows = await this.database.query(
      APPLY({
        id,
        readVersion: before.version,
        owner: owner ?? null,
        state: next.state,
        version: next.version,
        attempts: next.attempts,
        firstAttemptAt: momentOf(next.firstAttemptAtMs),
        openRequestId: next.openRequestId,
        nextActionAt: momentOf(next.nextActionAtMs),
        deliveredAt: momentOf(next.deliveredAtMs),
        release: write.release === true || next.nextActionAtMs === null,
        isNewCall: next.openRequestId !== before.openRequestId,
        ended: callEnd?.requestId ?? null,
        outcome: callEnd?.outcome ?? null,
        record: callEnd === undefined ? null : JSON.stringify(callEnd.record),
        actor: audit?.actor ?? null,
        command: audit?.command ?? null,
      }),
    );
    if (rows.length > 0) return;
    const [lease] = await this.database.query<{ owner: string | null }>(LEASE_OWNER({ id }));
    if (lease === undefined) throw new RedemptionMissingError(id);
    throw owner !== undefined && lease.owner !== owner
      ? new LeaseLostError(id)
      : new StaleRedemptionError(id);
  }

  async get(id: UuidV7): Promise<StoredDelivery | undefined> {
    const [row] = await this.database.query<DeliveryRow & object>(BY_ID({ id }));
    return row && deliveryOf(row);
  }

  /** The confirmations that have been undelivered longest come first. */
  async listUndelivered(limit: number): Promise<StoredDelivery[]> {
    return (await this.database.query<DeliveryRow & object>(UNDELIVERED({ limit }))).map(
      deliveryOf,
    );
  }
}

function deliveryOf({ redemptionId, partner, payload, ...delivery }: DeliveryRow): StoredDelivery {
  return { redemptionId, partner, payload, delivery };
}

function momentOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
