import { SqlMigration } from '../connection/schema-migration.js';

/** The log of partner calls keeps the newest balance reads of each partner, so that the players of one displace none of another. */
export class CallLogShares1760000004000 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [forgettingOf(BEYOND_EACH_SHARE)];
  readonly downStatements = [forgettingOf(BEYOND_THE_NEWEST)];
}

/** Works on the index of balance reads by time: an index by partner would have to read all calls of all redemptions. */
const BEYOND_EACH_SHARE = `
    SELECT reads.request_id FROM (
      SELECT c.request_id, c.begun_at, row_number() OVER (PARTITION BY c.partner ORDER BY c.begun_at DESC) AS place
      FROM redemption.partner_call c WHERE c.redemption_id IS NULL) AS reads
    WHERE reads.begun_at < reads_before OR reads.place > reads_kept
    ORDER BY reads.begun_at LIMIT at_most`;

const BEYOND_THE_NEWEST = `
    SELECT c.request_id FROM redemption.partner_call c WHERE c.redemption_id IS NULL AND (c.begun_at < reads_before
      OR c.begun_at <= (SELECT k.begun_at FROM redemption.partner_call k WHERE k.redemption_id IS NULL
        ORDER BY k.begun_at DESC OFFSET reads_kept LIMIT 1))
    ORDER BY c.begun_at LIMIT at_most`;

/** @param surplus the balance reads that are removed */
function forgettingOf(surplus: string): string {
  return `
CREATE OR REPLACE FUNCTION redemption.forget_attempts(failed_before timestamptz, reads_before timestamptz, reads_kept int, at_most int)
RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  failed uuid[];
  reads int;
BEGIN
  -- One sweep at a time is enough.
  IF NOT pg_try_advisory_xact_lock(4219, 0) THEN
    RETURN 0;
  END IF;
  failed := ARRAY(SELECT r.id FROM redemption.redemption r
    WHERE r.state = 'failed' AND r.pending_at IS NULL AND r.failed_at < failed_before AND redemption.is_forgettable(r)
    ORDER BY r.failed_at LIMIT at_most);
  DELETE FROM redemption.transition WHERE redemption_id = ANY (failed);
  DELETE FROM redemption.idempotency_key WHERE redemption_id = ANY (failed);
  DELETE FROM redemption.redemption WHERE id = ANY (failed);
  DELETE FROM redemption.partner_call WHERE request_id IN (${surplus});
  GET DIAGNOSTICS reads = ROW_COUNT;
  RETURN cardinality(failed) + reads;
END $$;
`;
}
