/** What all changes to a partner have in common: the lock, the terms and the audit row. */
import { type EntityManager } from 'typeorm';
import { type Decimal, DEFAULT_STAKE_SET, type PartnerId, PermanentError } from '#libs/domain';
import { type AuditNote, noteCommand } from '../redemption/audit-log.js';
import { decimalText } from '../connection/rows.js';
import { StakeSetEntity, UnknownStakeSetError } from '../connection/stake-set.js';
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
): Promise<PartnerIdentity & PartnerTerms> {
  const partner = await manager.findOne(PartnerEntity, {
    where: { id: partnerId },
    lock: { mode: 'pessimistic_write' },
  });
  if (partner === null) throw new PartnerUnknownError();
  return { partnerId, partnerName: partner.name, ...termsOf(partner) };
}

/** Absent terms stay as they are. @throws PartnerUnknownError, UnknownStakeSetError */
export async function setTerms(
  manager: EntityManager,
  partnerId: PartnerId,
  { stakeSet, ...columns }: Partial<PartnerTerms>,
): Promise<PartnerTerms> {
  if (stakeSet !== undefined) await bindToStakeSet(manager, partnerId, stakeSet);
  if (Object.keys(columns).length > 0) {
    await manager.update(PartnerEntity, partnerId, columns);
  }
  const partner = await manager.findOneBy(PartnerEntity, { id: partnerId });
  if (partner === null) throw new PartnerUnknownError();
  return termsOf(partner);
}

export function termsOf({ rate, burst, stakeSet }: PartnerEntity): PartnerTerms {
  return { rate, burst, stakeSet: stakeSet ?? DEFAULT_STAKE_SET };
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

/** @param before the values that the change has replaced, by their names in the settings */
export async function auditPartner(
  on: Parameters<typeof noteCommand>[0],
  partnerId: PartnerId,
  audit: PartnerAudit | undefined,
  before: object = {},
): Promise<void> {
  if (audit === undefined) return;
  const { actor, note } = audit;
  const given = Object.keys(before).length === 0 ? note.arguments : { ...note.arguments, before };
  const kept = { ...note, ...(given && { arguments: given }) };
  await noteCommand(on, actor, kept, { partner: partnerId });
}

/** The values of `before` that are others in `after`, as an audit row keeps them; null for one that was not set. */
export function replaced<T extends object>(
  before: T,
  after: T,
  names: readonly (keyof T)[],
): object {
  const changed = names.flatMap((name) => {
    const [was, is] = [auditedValue(before[name]), auditedValue(after[name])];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [[name, was] as const];
  });
  return Object.fromEntries(changed);
}

/** `replaced` for all terms. @param after what `setTerms` returned */
export function replacedTerms(before: PartnerTerms, after: PartnerTerms): object {
  return replaced(before, after, Object.keys(after) as (keyof PartnerTerms)[]);
}

function auditedValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.toSorted();
  if (typeof value !== 'object' || value === null) return value ?? null;
  if ('digits' in value) return decimalText(value as Decimal);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, auditedValue(one)]));
}
