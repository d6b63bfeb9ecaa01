/** The confirmations on their way to the partners (rule H): a queue of their own, in the same form as the redemptions'. */
import { type Delivery, type DeliveryState, type UuidV7 } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { type CallEnd } from './call-log-entry.js';
import { at, msOf } from './redemption-row.js';
import { type LeaseRequest } from './redemption-store.js';
import {
  LeaseLostError,
  RedemptionMissingError,
  StaleRedemptionError,
} from './redemption.error.js';
import { HINT_CHANNEL } from './redemption.statements.js';

export interface StoredDelivery {
  readonly redemptionId: UuidV7;
  readonly partner: string;
  /** Canonical JSON: the bytes to send and sign. */
  readonly payload: string;
  readonly delivery: Delivery;
}

export interface DeliveryWrite {
  readonly redemptionId: UuidV7;
  /** As it was read. */
  readonly before: Delivery;
  readonly next: Delivery;
  /** The lease; absent for an operator's replay. */
  readonly owner?: string;
  /** Gives the lease back as well; the end of the round always does. */
  readonly release?: boolean;
  readonly callEnd?: CallEnd;
  readonly audit?: { readonly actor: string; readonly command: string };
}

interface DeliveryRow {
  redemption_id: string;
  partner: string;
  payload: string;
  state: DeliveryState;
  version: number;
  attempts: number;
  first_attempt_at: Date | null;
  open_request_id: string | null;
  next_action_at: Date | null;
  delivered_at: Date | null;
  lease_owner: string | null;
}

const COLUMNS = [
  'redemption_id',
  'partner',
  'payload',
  'state',
  'version',
  'attempts',
  'first_attempt_at',
  'open_request_id',
  'next_action_at',
  'delivered_at',
  'lease_owner',
]
  .map((name) => `c.${name}`)
  .join(', ');

const LEASE: Statement = {
  name: 'confirmation_lease',
  text: `WITH picked AS MATERIALIZED (
      SELECT redemption_id FROM redemption.confirmation
      WHERE next_action_at <= coalesce($4::timestamptz, now()) AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY next_action_at FOR UPDATE SKIP LOCKED LIMIT $1
    )
    UPDATE redemption.confirmation c SET leased_until = now() + $3 * interval '1 millisecond', lease_owner = $2
    FROM picked WHERE c.redemption_id = picked.redemption_id RETURNING ${COLUMNS}`,
};

const RELEASE: Statement = {
  name: 'confirmation_release',
  text: `UPDATE redemption.confirmation SET leased_until = NULL, lease_owner = NULL
    WHERE redemption_id = $1 AND lease_owner = $2 RETURNING redemption_id`,
};

/** The lease is ours, so nothing else changed the row. */
const POSTPONE: Statement = {
  name: 'confirmation_postpone',
  text: `UPDATE redemption.confirmation SET leased_until = NULL, lease_owner = NULL,
      version = version + 1, next_action_at = $4
    WHERE redemption_id = $1 AND version = $2 AND lease_owner = $3`,
};

/** Only those of which nothing left at the last attempt: others wait for what the partner said. */
const HASTEN: Statement = {
  name: 'confirmation_hasten',
  text: `WITH hastened AS (
      UPDATE redemption.confirmation c SET version = c.version + 1, next_action_at = $2
      WHERE c.partner = $1 AND c.next_action_at > $2 AND (c.leased_until IS NULL OR c.leased_until <= now())
        AND (SELECT p.outcome FROM redemption.partner_call p
          WHERE p.redemption_id = c.redemption_id AND p.step = 'confirm'
          ORDER BY p.begun_at DESC LIMIT 1) = 'nothing-sent'
      RETURNING c.redemption_id)
    SELECT count(*)::int AS count, CASE WHEN count(*) > 0 THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM hastened`,
};

/** A call begins where its id is new in the row, in the same statement as rule A has it. */
const APPLY: Statement = {
  name: 'confirmation_apply',
  text: `WITH moved AS (
      UPDATE redemption.confirmation SET state = $4, version = $5, attempts = $6, first_attempt_at = $7,
        open_request_id = $8, next_action_at = $9, delivered_at = $10,
        undelivered_at = CASE WHEN $4 = 'undelivered' THEN coalesce(undelivered_at, clock_timestamp()) END,
        leased_until = CASE WHEN $11 THEN NULL ELSE leased_until END,
        lease_owner = CASE WHEN $11 THEN NULL ELSE lease_owner END
      WHERE redemption_id = $1 AND version = $2 AND ($3::text IS NULL OR lease_owner = $3)
      RETURNING redemption_id, partner, open_request_id
    ), begun AS (
      INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step)
      SELECT open_request_id, redemption_id, partner, 'confirm' FROM moved WHERE $12 AND open_request_id IS NOT NULL
    ), ended AS (
      UPDATE redemption.partner_call p SET ended_at = clock_timestamp(), outcome = $14, record = $15::jsonb
      FROM moved WHERE p.request_id = $13::uuid AND p.redemption_id = moved.redemption_id AND p.ended_at IS NULL
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, redemption_id, partner, outcome)
      SELECT $16, $17, redemption_id, partner, 'done' FROM moved WHERE $17::text IS NOT NULL
    )
    SELECT redemption_id, CASE WHEN $17::text IS NOT NULL THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM moved`,
};

const BY_ID: Statement = {
  name: 'confirmation_by_id',
  text: `SELECT ${COLUMNS} FROM redemption.confirmation c WHERE c.redemption_id = $1`,
};

const UNDELIVERED: Statement = {
  name: 'confirmation_undelivered',
  text: `SELECT ${COLUMNS} FROM redemption.confirmation c
    WHERE c.undelivered_at IS NOT NULL ORDER BY c.undelivered_at LIMIT $1`,
};

export class DeliveryStore {
  constructor(private readonly database: Database) {}

  /** As RedemptionStore's. */
  async lease({ count, owner, leaseMs, dueByMs }: LeaseRequest): Promise<StoredDelivery[]> {
    const values = [count, owner, leaseMs, at(dueByMs ?? null)];
    return (await this.database.query<DeliveryRow>(LEASE, values)).map(deliveryOf);
  }

  async release(redemptionId: UuidV7, owner: string): Promise<boolean> {
    return (await this.database.query(RELEASE, [redemptionId, owner])).length > 0;
  }

  /** Nothing was learnt: gives the lease back and writes when to look again. */
  async postpone(
    { redemptionId, delivery }: Pick<StoredDelivery, 'redemptionId' | 'delivery'>,
    owner: string,
    untilMs: number,
  ): Promise<void> {
    const values = [redemptionId, delivery.version, owner, at(untilMs)];
    await this.database.query(POSTPONE, values);
  }

  /**
   * The partner answers again: its confirmations that never left are due now.
   * @returns how many
   */
  async hasten(partner: string, nowMs: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(HASTEN, [partner, at(nowMs)]);
    return row?.count ?? 0;
  }

  /**
   * Writes one step of a delivery with its call rows. A call that it begins may be made once this has returned.
   * @throws StaleRedemptionError, LeaseLostError, RedemptionMissingError (no confirmation is owed), DatabaseUnavailableError
   */
  async apply(write: DeliveryWrite): Promise<void> {
    const { redemptionId, before, next, owner, callEnd, audit } = write;
    const rows = await this.database.query(APPLY, [
      redemptionId,
      before.version,
      owner ?? null,
      next.state,
      next.version,
      next.attempts,
      at(next.firstAttemptAtMs),
      next.openRequestId,
      at(next.nextActionAtMs),
      at(next.deliveredAtMs),
      write.release === true || next.nextActionAtMs === null,
      next.openRequestId !== before.openRequestId,
      callEnd?.requestId ?? null,
      callEnd?.outcome ?? null,
      callEnd === undefined ? null : JSON.stringify(callEnd.record),
      audit?.actor ?? null,
      audit?.command ?? null,
    ]);
    if (rows.length > 0) return;
    const [row] = await this.database.query<DeliveryRow>(BY_ID, [redemptionId]);
    if (row === undefined) throw new RedemptionMissingError(redemptionId);
    throw owner !== undefined && row.lease_owner !== owner
      ? new LeaseLostError(redemptionId)
      : new StaleRedemptionError(redemptionId);
  }

  async get(redemptionId: UuidV7): Promise<StoredDelivery | undefined> {
    const [row] = await this.database.query<DeliveryRow>(BY_ID, [redemptionId]);
    return row && deliveryOf(row);
  }

  /** The longest undelivered first. */
  async listUndelivered(limit: number): Promise<StoredDelivery[]> {
    return (await this.database.query<DeliveryRow>(UNDELIVERED, [limit])).map(deliveryOf);
  }
}

function deliveryOf(row: DeliveryRow): StoredDelivery {
  return {
    redemptionId: row.redemption_id as UuidV7,
    partner: row.partner,
    payload: row.payload,
    delivery: {
      state: row.state,
      version: row.version,
      attempts: row.attempts,
      firstAttemptAtMs: msOf(row.first_attempt_at),
      openRequestId: row.open_request_id as UuidV7 | null,
      nextActionAtMs: msOf(row.next_action_at),
      deliveredAtMs: msOf(row.delivered_at),
    },
  };
}
