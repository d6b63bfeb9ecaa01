import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type AuditNote, noteCommand } from '../redemption/audit-log.js';
import { addMember } from './member-store.js';
import {
  type Person,
  type Standing,
  standingOf,
  standingRow,
  type StandingRow,
} from './standing.js';

export interface NewSignInLink {
  /** SHA-256 of the token, 32 bytes. */
  readonly tokenHash: Buffer;
  readonly standing: Standing;
  /** Lower-case letters, digits and dashes. The subject of a person who uses the link is `link:NAME`. */
  readonly name: string;
  /** `operator:NAME`, or a program. */
  readonly createdBy: string;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

const CREATE = named<
  StandingRow & { tokenHash: Buffer; name: string; createdBy: string; now: Date; expiresAt: Date }
>(
  'sign_in_link_create',
  `INSERT INTO console.sign_in_link (token_hash, kind, role, partner, name, created_by, created_at, expires_at)
    VALUES (:tokenHash, :kind, :role, :partner, :name, :createdBy, :now, :expiresAt)`,
);

/** One statement, so that of two concurrent uses only one succeeds. */
const USE = named<{ tokenHash: Buffer; now: Date }>(
  'sign_in_link_use',
  `UPDATE console.sign_in_link SET used_at = :now
    WHERE token_hash = :tokenHash AND used_at IS NULL AND expires_at > :now RETURNING kind, role, partner, name`,
);

/** Links that sign in once: for the first sign-in of an installation, and for a stack on one machine. */
export class SignInLinkStore {
  constructor(private readonly database: Database) {}

  /** @param note of the command of `createdBy` that makes the link, for the audit */
  create(
    { standing, nowMs, expiresAtMs, ...link }: NewSignInLink,
    note?: AuditNote,
  ): Promise<void> {
    return this.database.transaction(async (client) => {
      const times = { now: new Date(nowMs), expiresAt: new Date(expiresAtMs) };
      await run(client, CREATE({ ...link, ...standingRow(standing), ...times }));
      if (note) await noteCommand(client, link.createdBy, note);
    });
  }

  /** Succeeds for exactly one caller, before the link expires. A person who signs in for a partner becomes a member. */
  use(
    tokenHash: Buffer,
    nowMs: number,
  ): Promise<(Person & { readonly standing: Standing }) | undefined> {
    return this.database.transaction(async (client) => {
      const now = new Date(nowMs);
      const { rows } = await client.query<StandingRow & { readonly name: string }>(
        USE({ tokenHash, now }),
      );
      if (rows[0] === undefined) return undefined;
      const { name, ...row } = rows[0];
      const used = { subject: `link:${name}`, name, standing: standingOf(row) };
      if (used.standing.kind === 'partner') {
        await addMember(client, { ...used, partnerId: used.standing.partnerId, now });
      }
      return used;
    });
  }
}
