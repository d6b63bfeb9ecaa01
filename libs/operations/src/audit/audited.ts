/** Who does what, and the audit's rows of operations that change something. */
import {
  type Database,
  DatabaseUnavailableError,
  type EvidenceSeal,
  type PartnerAudit,
  type PartnerIdentity,
  PartnerStore,
  PartnerUnknownError,
  RedemptionMissingError,
  RedemptionStore,
  RedemptionViews,
  type StoredRedemption,
} from '#libs/db';
import { LowmarkError, type UuidV7 } from '#libs/domain';
import { redact } from '#libs/platform';

/** On the command line and on the pages alike. */
export interface Operator {
  /** `operator:NAME`; see `operatorActor`. */
  readonly actor: string;
  /** `redemption retry`; a page gives the name of the command that does the same. */
  readonly command: string;
  /** `operator:NAME` of the second operator, where one approved it. */
  readonly approvedBy?: string | undefined;
}

/** An operation as the audit knows it. */
export interface AuditedCommand extends Operator {
  /** Without secrets. */
  readonly arguments?: object;
}

/** The names that the audit takes. */
export const OPERATOR_NAME = /^[A-Za-z0-9._@+-]{1,64}$/;

export function operatorActor(name: string): string {
  return `operator:${name}`;
}

const LONGEST = 255;

interface Concerned {
  readonly redemptionId?: UuidV7;
  /** The partner's id. */
  readonly partner?: string;
}

/**
 * Does what leaves its own audit row when it is done, and leaves one where it is refused.
 * @throws what the work throws, also where the refusal cannot be written down
 */
export async function audited<T>(
  database: Database,
  { actor, command, arguments: given = {} }: AuditedCommand,
  concerned: Concerned,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LowmarkError && !(error instanceof DatabaseUnavailableError)) {
      const note = { command, arguments: given, outcome: `refused: ${error.code}` };
      // Nothing was changed, and why is what the operator has to know: another error must not take its place.
      await new RedemptionViews(database).audit(actor, note, concerned).catch(() => undefined);
    }
    throw error;
  }
}

interface OnRedemption extends AuditedCommand {
  readonly id: UuidV7;
  readonly seal?: EvidenceSeal | undefined;
}

/** An operation on one redemption, as it is stored; a refusal is audited. @throws RedemptionMissingError, and what the work throws */
export async function onRedemption<T>(
  database: Database,
  { id, seal, ...command }: OnRedemption,
  work: (stored: StoredRedemption, store: RedemptionStore) => Promise<T>,
): Promise<T> {
  const store = new RedemptionStore(database, seal);
  const stored = await store.get(id);
  const concerned = { redemptionId: id, ...(stored && { partner: stored.redemption.partner }) };
  return audited(database, command, concerned, () => {
    if (stored === undefined) throw new RedemptionMissingError(id);
    return work(stored, store);
  });
}

interface OnPartner {
  /** Name or id. */
  readonly partner: string;
  /** The other arguments, without secrets. */
  readonly arguments?: object;
}

/**
 * An operation on one partner. The work writes `audit` together with its change; a refusal is audited here.
 * @throws PartnerUnknownError, and what the work throws
 */
export async function onPartner<T>(
  database: Database,
  { actor, command, approvedBy }: Operator,
  { partner, arguments: given }: OnPartner,
  work: (who: PartnerIdentity, audit: PartnerAudit) => Promise<T>,
): Promise<T> {
  const who = await new PartnerStore(database).identify(partner);
  const note = { command, arguments: { partner: auditedText(partner), ...given, approvedBy } };
  const concerned = who === undefined ? {} : { partner: who.partnerId };
  return audited(database, { actor, ...note }, concerned, () => {
    if (who === undefined) throw new PartnerUnknownError();
    return work(who, { actor, note: { ...note, outcome: 'done' } });
  });
}

/** An argument as the audit keeps it: bounded, without a credential of ours, and without what jsonb cannot hold. */
export function auditedText(text: string): string {
  // By characters: half of a pair is nothing that jsonb takes.
  return Array.from(redact(text).replaceAll('\0', '')).slice(0, LONGEST).join('');
}
