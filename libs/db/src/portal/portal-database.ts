import { type QueryResultRow } from 'pg';
import { type PartnerId, PermanentError } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { createDatabase, type OpenOptions } from '../migrations/create-database.js';
import { named, type Statement } from '../connection/named.js';
import { PORTAL_SESSION } from '../connection/session-settings.js';

/** Runs a statement on the views of schema `portal`, as one partner (`PortalDatabase.asPartner`). */
export type PortalQuery = <R extends QueryResultRow>(statement: Statement) => Promise<R[]>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Valid for this transaction only: later transactions on the same connection have no partner, even behind a pooler. */
const ACT_AS = named<{ partnerId: PartnerId }>(
  'portal_act_as',
  `SELECT set_config('lowmark.partner', :partnerId, true)`,
);

/**
 * The database as one partner may see it: views of schema `portal`, which show the rows of the transaction's partner.
 */
export class PortalDatabase {
  constructor(readonly database: Database) {}

  /**
   * Reads as one partner, in one transaction.
   * @throws PermanentError PARTNER_ID_INVALID; DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
   */
  async asPartner<T>(partnerId: PartnerId, work: (query: PortalQuery) => Promise<T>): Promise<T> {
    if (!UUID.test(partnerId)) {
      throw new PermanentError('PARTNER_ID_INVALID', 'The id of a partner is a UUID.');
    }
    return this.database.transaction(async (client) => {
      await run(client, ACT_AS({ partnerId }));
      return work((statement) => run(client, statement));
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/**
 * @param options with the URL of the portal's user, who may not read the recorded migrations; the
 * console checks the schema
 * @throws what `createDatabase` throws
 */
export async function openPortal(
  options: Omit<OpenOptions, 'schema' | 'readOnly'>,
): Promise<PortalDatabase> {
  return new PortalDatabase(await createDatabase({ ...options, ...PORTAL_SESSION, schema: 'any' }));
}
