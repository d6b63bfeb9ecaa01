/** What changes of a partner have in common: its lock, its limits, and the note of the command. */
import { type PoolClient } from 'pg';
import { type EntityManager } from 'typeorm';
import { PermanentError } from '#libs/domain';
import { named } from '../connection/named.js';
import { type AuditNote, noteCommand } from '../redemption/command.entity.js';

export interface PartnerIdentity {
  readonly partnerId: string;
  readonly partnerName: string;
}

export class PartnerUnknownError extends PermanentError {
  constructor() {
    super('PARTNER_UNKNOWN', 'There is no partner of this name or id; `partner list` shows all.');
  }
}

/** Of a partner, at the api. Within seconds every replica goes by them. */
export interface RateLimits {
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}

/** Who changes a partner by which command; noted in the transaction of the change, so that neither is without the other. */
export interface PartnerAudit {
  /** `operator:NAME`. */
  readonly actor: string;
  /** Without secrets. */
  readonly note: AuditNote;
}

/** A name that looks like another partner's id goes first. */
const BY_NAME_OR_ID = `SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner
  WHERE lower(name) = lower(:nameOrId) OR id::text = lower(:nameOrId) ORDER BY (lower(name) = lower(:nameOrId)) DESC LIMIT 1`;

export const IDENTIFY = named<{ nameOrId: string }>('partner_identify', BY_NAME_OR_ID);

const LOCK = named<{ nameOrId: string }>('partner_lock', `${BY_NAME_OR_ID} FOR UPDATE`);

const SET_LIMITS = named<{ partnerId: string; rate: number | null; burst: number | null }>(
  'partner_set_limits',
  `UPDATE partners.partner SET rate = coalesce(:rate, rate), burst = coalesce(:burst, burst) WHERE id = :partnerId
    RETURNING rate, burst`,
);

/** Changes to one partner happen one after the other from here on. @throws PartnerUnknownError */
export async function lockPartner(client: PoolClient, nameOrId: string): Promise<PartnerIdentity> {
  const { rows } = await client.query<PartnerIdentity>(LOCK({ nameOrId }));
  if (rows[0] === undefined) throw new PartnerUnknownError();
  return rows[0];
}

/** What is absent stays. @throws PartnerUnknownError */
export async function setRateLimits(
  client: PoolClient,
  partnerId: string,
  { rate = null, burst = null }: { [Limit in keyof RateLimits]?: number | null | undefined },
): Promise<RateLimits> {
  const { rows } = await client.query<RateLimits>(SET_LIMITS({ partnerId, rate, burst }));
  if (rows[0] === undefined) throw new PartnerUnknownError();
  return rows[0];
}

export async function auditPartner(
  manager: EntityManager,
  partnerId: string,
  audit: PartnerAudit | undefined,
): Promise<void> {
  if (audit) await noteCommand(manager, audit.actor, audit.note, { partner: partnerId });
}
