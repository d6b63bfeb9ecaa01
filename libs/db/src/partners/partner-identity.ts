import { type PoolClient } from 'pg';
import { PermanentError } from '#libs/domain';
import { type Statement } from '../connection/database.js';

export interface PartnerIdentity {
  readonly partnerId: string;
  readonly partnerName: string;
}

export class PartnerUnknownError extends PermanentError {
  constructor() {
    super('PARTNER_UNKNOWN', 'There is no partner of this name or id; `partner list` shows all.');
  }
}

/** $1 a name in whatever capitals, or an id; a name that looks like another partner's id goes first. */
export const IDENTIFY: Statement = {
  name: 'partner_identify',
  text: `SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner
    WHERE lower(name) = lower($1) OR id::text = lower($1) ORDER BY (lower(name) = lower($1)) DESC LIMIT 1`,
};

const LOCK: Statement = { name: 'partner_lock', text: `${IDENTIFY.text} FOR UPDATE` };

/** Changes to one partner happen one after the other from here on. @throws PartnerUnknownError */
export async function lockPartner(client: PoolClient, nameOrId: string): Promise<PartnerIdentity> {
  const { rows } = await client.query<PartnerIdentity>({ ...LOCK, values: [nameOrId] });
  if (rows[0] === undefined) throw new PartnerUnknownError();
  return rows[0];
}
