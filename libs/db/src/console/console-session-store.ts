import { type PartnerId } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import {
  type Person,
  type Standing,
  standingOf,
  standingRow,
  type StandingRow,
} from './standing.js';

export interface NewConsoleSession extends Person {
  /** SHA-256 of the token, 32 bytes, in all functions of this file. */
  readonly tokenHash: Buffer;
  readonly standing: Standing;
  readonly nowMs: number;
  /**
   * Time of the sign-in where it was earlier: an identity provider may have known the person for longer. A later time,
   * of a clock that is ahead, counts as now.
   */
  readonly authenticatedAtMs?: number | undefined;
  readonly expiresAtMs: number;
}

export interface ConsoleSession extends Person {
  readonly standing: Standing;
  /** Exact to the minute. */
  readonly seenAt: Date;
  /** Time of the last fresh sign-in. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
}

interface Times {
  readonly nowMs: number;
  /** A session that was not seen for this time has ended. Default: no such limit. */
  readonly idleMs?: number;
}

const OPEN = named<StandingRow & Omit<ConsoleSession, 'standing'> & { readonly tokenHash: Buffer }>(
  'console_session_open',
  `INSERT INTO console.session (token_hash, kind, role, partner, subject, name, created_at, seen_at, authenticated_at, expires_at)
    VALUES (:tokenHash, :kind, :role, :partner, :subject, :name, :seenAt, :seenAt, :authenticatedAt, :expiresAt)`,
);

/**
 * A partner's session is valid only while its person is a member. An operator's session has the role of the person's
 * newest sign-in.
 */
const FIND = named<{ tokenHash: Buffer; now: Date; idleSince: Date | null }>(
  'console_session_find',
  `SELECT s.kind, CASE WHEN g.known_at > s.created_at THEN g.role ELSE s.role END AS role, s.partner, s.subject, s.name, s.seen_at AS "seenAt",
      s.authenticated_at AS "authenticatedAt", s.expires_at AS "expiresAt"
    FROM console.session s LEFT JOIN console.granted_role g ON g.subject = s.subject AND s.kind = 'operator'
    WHERE s.token_hash = :tokenHash AND (g.role IS NOT NULL OR (g.known_at > s.created_at) IS NOT TRUE) AND s.expires_at > :now AND (:idleSince::timestamptz IS NULL OR s.seen_at > :idleSince)
      AND (s.kind = 'operator' OR EXISTS (SELECT FROM console.member m
        WHERE m.partner = s.partner AND m.subject = s.subject AND m.removed_at IS NULL))`,
);

const SEE = named<{ tokenHash: Buffer; now: Date }>(
  'console_session_see',
  `UPDATE console.session SET seen_at = :now WHERE token_hash = :tokenHash AND seen_at <= :now::timestamptz - interval '1 minute'`,
);

const CHOOSE_PARTNER = named<{ tokenHash: Buffer; partnerId: PartnerId }>(
  'console_session_choose_partner',
  `UPDATE console.session s SET partner = :partnerId WHERE s.token_hash = :tokenHash AND s.kind = 'partner' AND EXISTS (
      SELECT FROM console.member m WHERE m.partner = :partnerId AND m.subject = s.subject AND m.removed_at IS NULL)
    RETURNING s.subject`,
);

const CLOSE = named<{ tokenHash: Buffer }>(
  'console_session_close',
  'DELETE FROM console.session WHERE token_hash = :tokenHash',
);

/**
 * Sessions of the web pages. A row has only the SHA-256 of a session's token, so that reading the table does
 * not let a person sign in.
 */
export class ConsoleSessionStore {
  constructor(private readonly database: Database) {}

  /** @returns the session as it is stored */
  async open({
    tokenHash,
    standing,
    nowMs,
    authenticatedAtMs = nowMs,
    expiresAtMs,
    ...person
  }: NewConsoleSession): Promise<ConsoleSession> {
    const authenticatedAt = new Date(Math.min(authenticatedAtMs, nowMs));
    const times = { seenAt: new Date(nowMs), authenticatedAt, expiresAt: new Date(expiresAtMs) };
    await this.database.query(OPEN({ ...person, ...times, tokenHash, ...standingRow(standing) }));
    return { ...person, ...times, standing };
  }

  /**
   * @returns undefined where the session does not exist, has ended, or its person may not act for the partner any more
   */
  async find(tokenHash: Buffer, { nowMs, idleMs }: Times): Promise<ConsoleSession | undefined> {
    const idleSince = idleMs === undefined ? null : new Date(nowMs - idleMs);
    const [row] = await this.database.query<StandingRow & Omit<ConsoleSession, 'standing'>>(
      FIND({ tokenHash, now: new Date(nowMs), idleSince }),
    );
    if (row === undefined) return undefined;
    const { kind, role, partner, ...session } = row;
    return { ...session, standing: standingOf({ kind, role, partner }) };
  }

  /** Records that the session is in use, at most once a minute. */
  async see(tokenHash: Buffer, nowMs: number): Promise<void> {
    await this.database.query(SEE({ tokenHash, now: new Date(nowMs) }));
  }

  /** Changes the partner of the session. @returns false where the person is no member of this partner */
  async choosePartner(tokenHash: Buffer, partnerId: PartnerId): Promise<boolean> {
    return (await this.database.query(CHOOSE_PARTNER({ tokenHash, partnerId }))).length > 0;
  }

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.query(CLOSE({ tokenHash }));
  }
}
