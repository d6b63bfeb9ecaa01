import {
  type Database,
  type PartnerAudit,
  type PartnerIdentity,
  PartnerStore,
  PartnerUnknownError,
} from '#libs/db';
import { audited, type AuditedCommand } from './audited.js';
import { auditedText } from './audited-text.js';

/**
 * Runs a command on one partner. The work writes `audit` together with its change; a refusal is audited here.
 * @param nameOrId of the partner
 * @throws PartnerUnknownError, and whatever the work throws
 */
export async function onPartner<T>(
  database: Database,
  nameOrId: string,
  command: AuditedCommand,
  work: (who: PartnerIdentity, audit: PartnerAudit) => Promise<T>,
): Promise<T> {
  const who = await new PartnerStore(database).identify(nameOrId);
  const given = { partner: auditedText(nameOrId), ...command.arguments };
  const known = { ...command, arguments: given };
  const audit = {
    actor: command.actor,
    note: { command: command.command, arguments: given, outcome: 'done' },
  };
  return audited(database, known, who === undefined ? {} : { partner: who.partnerId }, () => {
    if (who === undefined) throw new PartnerUnknownError();
    return work(who, audit);
  });
}
