/** Points that conformance runs took from a partner's players and could not give back yet. */
import { named } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

export interface OpenDeduction {
  readonly redemptionId: string;
  /** The player's address, as it was sent. */
  readonly address: string;
  /** A decimal number. */
  readonly points: string;
  /** Empty where the successful answer named none; null where no success was seen. */
  readonly transactionId: string | null;
  readonly attempts: number;
  /** Time of the next attempt. */
  readonly dueAt: Date;
}

const OPEN = named<{ limit: number }>(
  'portal_open_deductions',
  `SELECT redemption_id AS "redemptionId", address, points::text, transaction_id AS "transactionId", attempts, due_at AS "dueAt"
    FROM portal.conformance_deduction ORDER BY due_at, redemption_id LIMIT :limit`,
);

/** The next one to try comes first. @param query of `PortalDatabase.asPartner` */
export function readOpenDeductions(query: PortalQuery, limit: number): Promise<OpenDeduction[]> {
  return query<OpenDeduction & object>(OPEN({ limit }));
}
