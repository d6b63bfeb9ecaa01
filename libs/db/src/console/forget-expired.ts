import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

/** Conformance runs are kept for a day. All else is of no effect from its expiry on. */
const FORGET = named<{ now: Date }>(
  'console_forget_expired',
  `WITH sessions AS (DELETE FROM console.session WHERE expires_at <= :now),
    nonces AS (DELETE FROM console.nonce WHERE expires_at <= :now),
    attempts AS (DELETE FROM console.login_attempt WHERE expires_at <= :now),
    links AS (DELETE FROM console.sign_in_link WHERE expires_at <= :now),
    limits AS (DELETE FROM console.member_limit WHERE full_at <= :now)
    DELETE FROM console.conformance_run WHERE started_at <= :now::timestamptz - interval '1 day'`,
);

/**
 * Deletes expired sessions, nonces, sign-in attempts and links, limits that are not in use, and old conformance runs.
 */
export async function forgetExpired(database: Database, nowMs: number): Promise<void> {
  await database.query(FORGET({ now: new Date(nowMs) }));
}
