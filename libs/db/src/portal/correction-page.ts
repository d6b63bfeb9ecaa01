import { type CorrectedFigure } from '../corrections/correction-store.js';
import { named, type OrNull, orNull } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

/** An answer to the partner that was signed with a wrong figure, or may have been. */
export interface OwnCorrectedAnswer {
  readonly id: string;
  readonly correction: string;
  /** When the index was repaired. */
  readonly at: Date;
  readonly stakeSet: string;
  readonly reason: string;
  /** Id in the log of requests. */
  readonly request: string;
  /** X-Request-Id. */
  readonly requestId: string;
  readonly requestedAt: Date;
  readonly method: string;
  readonly path: string;
  readonly isCertain: boolean;
  readonly figures: readonly CorrectedFigure[];
}

interface CorrectionPage {
  /** The smallest id of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const PAGE = named<OrNull<CorrectionPage>>(
  'portal_corrected_answers',
  `SELECT id, correction, at, stake_set AS "stakeSet", reason, request, request_id AS "requestId", requested_at AS "requestedAt", method, path,
      is_certain AS "isCertain", figures
    FROM portal.corrected_answer WHERE :before::bigint IS NULL OR id < :before ORDER BY id DESC LIMIT :limit`,
);

/** Newest first. @param query of `PortalDatabase.asPartner` */
export function readCorrectedAnswers(
  query: PortalQuery,
  { before, limit }: CorrectionPage,
): Promise<OwnCorrectedAnswer[]> {
  return query<OwnCorrectedAnswer>(PAGE(orNull({ before, limit })));
}
