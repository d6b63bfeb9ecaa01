/** What all changes to a partner have in common: the lock, the terms and the audit row. */
import { type PoolClient } from 'pg';
import { type EntityManager } from 'typeorm';
import { DEFAULT_STAKE_SET, type PartnerId, PermanentError } from '#libs/domain';
import { named } from '../connection/named.js';
import { type AuditNote, noteCommand } from '../redemption/command.entity.js';
import { StakeSetEntity, UnknownStakeSetError } from '../stake-sets/stake-set.js';
import { PartnerEntity } from './partner.entity.js';

export interface PartnerIdentity {
  readonly partnerId: PartnerId;
  readonly partnerName: string;
}

export class PartnerUnknownError extends PermanentError {
  constructor() {
    super('PARTNER_UNKNOWN', 'There is no partner of this name or id; `partner list` shows all.');
  }
}

/** Rate limits of a partner at the api. Every replica applies a change within seconds. */
export interface RateLimits {
  /** Requests per second in the long run. */
  readonly rate: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** Settings of a partner besides its callback. */
export interface PartnerTerms extends RateLimits {
  /** The stake set of requests that name no contract. */
  readonly stakeSet: string;
}

/** Actor and command of a change, recorded in its transaction, so that neither exists without the other. */
export interface PartnerAudit {
  /** `operator:NAME`. */
  readonly actor: string;
  /** Without secrets. */
  readonly note: AuditNote;
}

const LOCK = named<{ partnerId: PartnerId }>(
  'partner_lock',
  'SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner WHERE id = :partnerId FOR UPDATE',
);

const SET_LIMITS = named<{ partnerId: PartnerId; rate: number | null; burst: number | null }>(
  'partner_set_limits',
  `UPDATE partners.partner SET rate = coalesce(:rate, rate), burst = coalesce(:burst, burst) WHERE id = :partnerId
    RETURNING rate, burst, coalesce(stake_set, '${DEFAULT_STAKE_SET}') AS "stakeSet"`,
);

type SetTerms = { [Limit in keyof RateLimits]?: number | null | undefined } & {
  readonly stakeSet?: string | undefined;
};

/** Locks the partner, so that changes to it happen one after the other. @throws PartnerUnknownError */
export async function lockPartner(
  client: PoolClient,
  partnerId: PartnerId,
): Promise<PartnerIdentity> {
  const { rows } = await client.query<PartnerIdentity>(LOCK({ partnerId }));
  if (rows[0] === undefined) throw new PartnerUnknownError();
  return rows[0];
}

/** Absent terms stay as they are. @throws PartnerUnknownError, UnknownStakeSetError */
export async function setTerms(
  client: PoolClient,
  manager: EntityManager,
  partnerId: PartnerId,
  { rate = null, burst = null, stakeSet }: SetTerms,
): Promise<PartnerTerms> {
  if (stakeSet !== undefined) await bindToStakeSet(manager, partnerId, stakeSet);
  const { rows } = await client.query<PartnerTerms>(SET_LIMITS({ partnerId, rate, burst }));
  if (rows[0] === undefined) throw new PartnerUnknownError();
  return rows[0];
}

/** Sets the stake set of requests that name no contract. @throws UnknownStakeSetError */
export async function bindToStakeSet(
  manager: EntityManager,
  partnerId: PartnerId,
  stakeSet: string,
): Promise<void> {
  const isDefault = stakeSet === DEFAULT_STAKE_SET;
  if (!isDefault && !(await manager.existsBy(StakeSetEntity, { name: stakeSet }))) {
    const sets = await manager.find(StakeSetEntity, { order: { name: 'ASC' } });
    throw new UnknownStakeSetError(stakeSet, [DEFAULT_STAKE_SET, ...sets.map(({ name }) => name)]);
  }
  await manager.update(PartnerEntity, partnerId, { stakeSet: isDefault ? null : stakeSet });
}

export async function auditPartner(
  manager: EntityManager,
  partnerId: PartnerId,
  audit: PartnerAudit | undefined,
): Promise<void> {
  if (audit) await noteCommand(manager, audit.actor, audit.note, { partner: partnerId });
}
