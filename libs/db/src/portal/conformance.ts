/** The last run of the conformance tester on a partner's endpoints, and the deductions that runs left behind. */
import { named } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

export interface OwnConformanceRun {
  readonly baseUrl: string;
  readonly address: string;
  readonly startedAt: Date;
  /** Null while the run is under way. */
  readonly endedAt: Date | null;
  readonly progress: unknown;
  /** Null while the run is under way, and if it ended without a report. */
  readonly report: unknown;
  /** Why there is no report; null too if the console of the run ended before the run. */
  readonly failure: string | null;
}

const RUN = named(
  'portal_conformance_run',
  `SELECT base_url AS "baseUrl", address, started_at AS "startedAt", ended_at AS "endedAt", progress, report, failure
    FROM portal.conformance_run`,
);

export async function readConformanceRun(
  query: PortalQuery,
): Promise<OwnConformanceRun | undefined> {
  const [run] = await query<OwnConformanceRun & object>(RUN({}));
  return run;
}

/** Points that a run took from a player and that could not be given back yet. */
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

/** The next one to try comes first. */
export function readOpenDeductions(query: PortalQuery, limit: number): Promise<OpenDeduction[]> {
  return query<OpenDeduction & object>(OPEN({ limit }));
}
