import { type PoolClient } from 'pg';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type OperatorRole } from './standing.js';

/** What the newest sign-in of a person said of the role. */
export interface GrantedRole {
  readonly subject: string;
  /** Null where the person is no operator any more. */
  readonly role: OperatorRole | null;
  readonly knownAt: Date;
}

const GRANT = named<{ subject: string; role: OperatorRole; now: Date }>(
  'granted_role_grant',
  `INSERT INTO console.granted_role AS known (subject, role, known_at) VALUES (:subject, :role, :now)
    ON CONFLICT (subject) DO UPDATE SET role = excluded.role, known_at = excluded.known_at WHERE known.known_at <= excluded.known_at`,
);

const WITHDRAW = named<{ subject: string; now: Date }>(
  'granted_role_withdraw',
  'UPDATE console.granted_role SET role = NULL, known_at = :now WHERE subject = :subject AND known_at <= :now',
);

const FIND = named<{ subject: string }>(
  'granted_role_find',
  'SELECT subject, role, known_at AS "knownAt" FROM console.granted_role WHERE subject = :subject',
);

/** Ordered, so that two transactions lock the rows in the same order. */
const LOCK = named<{ subjects: readonly string[] }>(
  'granted_role_lock',
  `SELECT subject, role, known_at AS "knownAt" FROM console.granted_role WHERE subject = ANY(:subjects) ORDER BY subject FOR SHARE`,
);

/** Finds roles that do not change before the end of the transaction. */
export function lockGrantedRoles(
  client: PoolClient,
  subjects: readonly string[],
): Promise<GrantedRole[]> {
  return run<GrantedRole & object>(client, LOCK({ subjects }));
}

/** Roles of operators that a sign-in gives: by an issuer's groups or by a link. Roles of wallets are in the settings. */
export class GrantedRoleStore {
  constructor(private readonly database: Database) {}

  /** Records the role that a sign-in gave. */
  async grant(subject: string, role: OperatorRole, nowMs: number): Promise<void> {
    await this.database.query(GRANT({ subject, role, now: new Date(nowMs) }));
  }

  /** Records that a sign-in gave a person no role, where the person had one. */
  async withdraw(subject: string, nowMs: number): Promise<void> {
    await this.database.query(WITHDRAW({ subject, now: new Date(nowMs) }));
  }

  async find(subject: string): Promise<GrantedRole | undefined> {
    return (await this.database.query<GrantedRole & object>(FIND({ subject })))[0];
  }
}
