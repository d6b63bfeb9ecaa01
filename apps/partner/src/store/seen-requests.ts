import { type Database, type Statement } from '#libs/db';
import { type ReplayStore } from '#libs/partner-sdk';

/** Twice the freshness window: an id that is older cannot pass it any more. */
const REMEMBERED_MS = 600_000;

/** Each call sweeps away a few that are too old, so that nothing else has to. */
const REMEMBER: Statement = {
  name: 'game_remember_request',
  text: `WITH swept AS (
      DELETE FROM game.seen_request WHERE request_id IN (
        SELECT request_id FROM game.seen_request WHERE seen_at < $3 ORDER BY seen_at LIMIT 20 FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO game.seen_request (request_id, seen_at) VALUES ($1, $2)
    ON CONFLICT (request_id) DO NOTHING RETURNING request_id`,
};

/** The ids of the calls of the last ten minutes, in the database so that all replicas share them. */
export class SeenRequests implements ReplayStore {
  constructor(private readonly database: Database) {}

  /** Remembers the id. @returns false where it is remembered already */
  async firstUse(requestId: string, nowMs: number): Promise<boolean> {
    const rows = await this.database.query(REMEMBER, [
      requestId,
      new Date(nowMs),
      new Date(nowMs - REMEMBERED_MS),
    ]);
    return rows.length > 0;
  }
}
