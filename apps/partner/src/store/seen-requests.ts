import { type Database, type Statement } from '#libs/db';
import { type ReplayStore } from '#libs/partner-sdk';

/** In milliseconds: twice the freshness window. An id that is older is refused by its age. */
const REMEMBERED_MS = 600_000;

/** Each call also deletes a few ids that are too old, so that no other job has to. */
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

  /** Remembers the id. @returns false where the id was remembered before */
  async firstUse(requestId: string, nowMs: number): Promise<boolean> {
    const rows = await this.database.query(REMEMBER, [
      requestId,
      new Date(nowMs),
      new Date(nowMs - REMEMBERED_MS),
    ]);
    return rows.length > 0;
  }
}
