/** Operators, and the audit rows of operations that change something. */
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
import { LowmarkError, type PartnerId, type UuidV7 } from '#libs/domain';
import { redact } from '#libs/platform';

/** Who runs an operation, on the command line or on the pages. */
export interface Operator {
  /** `operator:NAME`; see `operatorActor`. */
  readonly actor: string;
  /** For example `redemption retry`. A page gives the command that does the same. */
  readonly command: string;
  /** `operator:NAME` of the second operator, where one approved it. */
  readonly approvedBy?: string | undefined;
}

export interface AuditedCommand extends Operator {
  /** Without secrets. */
  readonly arguments?: object;
}

/** Names of operators that the audit log accepts: one word that is no option. */
export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

export function operatorActor(name: string): string {
  return `operator:${name}`;
}

const LONGEST = 255;

interface Concerned {
  readonly redemptionId?: UuidV7;
  readonly partner?: PartnerId;
}

/**
 * Runs `work`, which writes its own audit row with its change. A refusal of `work` gets an audit row too.
 * @throws what `work` throws, even where the refusal cannot be written
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
      // Nothing was changed. The operator has to see the refusal, so a failure to write its row must not replace it.
      await new RedemptionViews(database).audit(actor, note, concerned).catch(() => undefined);
    }
    throw error;
  }
}

interface OnRedemption extends AuditedCommand {
  readonly id: UuidV7;
  readonly seal?: EvidenceSeal | undefined;
}

/**
 * Runs an operation on one stored redemption. A refusal gets an audit row.
 * @throws RedemptionMissingError, and what `work` throws
 */
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
  readonly partner: PartnerId;
  /** The other arguments, without secrets. */
  readonly arguments?: object;
}

/**
 * Runs an operation on one partner. `work` writes `audit` together with its change; a refusal gets its audit row here.
 * @throws PartnerUnknownError, and what `work` throws
 */
export async function onPartner<T>(
  database: Database,
  { actor, command, approvedBy }: Operator,
  { partner, arguments: given }: OnPartner,
  work: (who: PartnerIdentity, audit: PartnerAudit) => Promise<T>,
): Promise<T> {
  const who = await new PartnerStore(database).identify(partner);
  const note = { command, arguments: { partner, ...given, approvedBy } };
  const concerned = { partner };
  return audited(database, { actor, ...note }, concerned, () => {
    if (who === undefined) throw new PartnerUnknownError();
    return work(who, { actor, note: { ...note, outcome: 'done' } });
  });
}

/**
 * A text as the audit row keeps it: bounded, without credentials of ours, and without characters that jsonb refuses.
 */
export function auditedText(text: string): string {
  // Cut between characters, since jsonb refuses half of a surrogate pair.
  return Array.from(redact(text).replaceAll('\0', '')).slice(0, LONGEST).join('');
}
