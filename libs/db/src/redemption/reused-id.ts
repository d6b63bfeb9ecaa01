import { type UuidV7 } from '#libs/domain';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { PartnerIdReusedError } from './redemption.error.js';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** @returns undefined where the database refused something else than a partner's id that another redemption has */
export function reusedId(error: unknown, id: UuidV7): PartnerIdReusedError | undefined {
  if (!(error instanceof DatabaseRefusedError) || error.sqlState !== UNIQUE_VIOLATION) {
    return undefined;
  }
  const { constraint } = error.cause as { constraint?: string };
  if (constraint === 'redemption_transaction_id')
    return new PartnerIdReusedError(id, 'transaction');
  return constraint === 'redemption_revert_id' ? new PartnerIdReusedError(id, 'revert') : undefined;
}
