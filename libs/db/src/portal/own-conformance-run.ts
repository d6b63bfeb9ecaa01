/** The last run of the conformance tester on a partner's endpoints. */
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

const RUN = {
  name: 'portal_conformance_run',
  text: `SELECT base_url AS "baseUrl", address, started_at AS "startedAt", ended_at AS "endedAt", progress, report, failure
    FROM portal.conformance_run`,
};

/** @param query of `PortalDatabase.asPartner` */
export async function readConformanceRun(
  query: PortalQuery,
): Promise<OwnConformanceRun | undefined> {
  const [run] = await query<OwnConformanceRun & object>(RUN);
  return run;
}
