import { type PoolClient } from 'pg';
import { AUDIT, auditValues } from '../redemption/redemption-views.js';
import { type AuditNote } from '../redemption/transition-write.js';

/** Who changes a partner by which command; noted in the transaction of the change, so that neither is without the other. */
export interface PartnerAudit {
  /** `operator:NAME`. */
  readonly actor: string;
  /** Without secrets. */
  readonly note: AuditNote;
}

export async function auditPartner(
  client: PoolClient,
  partnerId: string,
  audit: PartnerAudit | undefined,
): Promise<void> {
  if (audit === undefined) return;
  const { actor, note } = audit;
  await client.query({ ...AUDIT, values: auditValues(actor, note, { partner: partnerId }) });
}
