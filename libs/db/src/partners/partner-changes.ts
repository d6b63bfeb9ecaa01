/** What all changes to a partner have in common: the lock, the terms and the audit row. */
import { type EntityManager } from 'typeorm';
import { DEFAULT_STAKE_SET, type PartnerId, PermanentError } from '#libs/domain';
import { type AuditNote, noteCommand } from '../redemption/audit-log.js';
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

/** Locks the partner, so that changes to it happen one after the other. @throws PartnerUnknownError */
export async function lockPartner(
  manager: EntityManager,
  partnerId: PartnerId,
): Promise<PartnerIdentity> {
  const partner = await manager.findOne(PartnerEntity, {
    where: { id: partnerId },
    lock: { mode: 'pessimistic_write' },
  });
  if (partner === null) throw new PartnerUnknownError();
  return { partnerId, partnerName: partner.name };
}

/** Absent terms stay as they are. @throws PartnerUnknownError, UnknownStakeSetError */
export async function setTerms(
  manager: EntityManager,
  partnerId: PartnerId,
  { stakeSet, ...limits }: Partial<PartnerTerms>,
): Promise<PartnerTerms> {
  if (stakeSet !== undefined) await bindToStakeSet(manager, partnerId, stakeSet);
  if (limits.rate !== undefined || limits.burst !== undefined) {
    await manager.update(PartnerEntity, partnerId, limits);
  }
  const partner = await manager.findOneBy(PartnerEntity, { id: partnerId });
  if (partner === null) throw new PartnerUnknownError();
  const { rate, burst, stakeSet: set } = partner;
  return { rate, burst, stakeSet: set ?? DEFAULT_STAKE_SET };
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
  on: Parameters<typeof noteCommand>[0],
  partnerId: PartnerId,
  audit: PartnerAudit | undefined,
): Promise<void> {
  if (audit) await noteCommand(on, audit.actor, audit.note, { partner: partnerId });
}
