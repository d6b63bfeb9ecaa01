import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { PINNED_SETTINGS } from '../connection/session-settings.js';
import { PROGRAM_ROLES } from './rights.js';

/** A setting of the server that sessions take over. */
export interface ForeignSetting {
  readonly name: string;
  readonly value: string;
  /** Where it was set: `database`, `user NAME`, or `server` for its configuration. */
  readonly of: string;
}

/** Settings that change what a program can do, wherever they were set. */
const WATCHED = [
  'default_transaction_read_only',
  'session_replication_role',
  'synchronous_commit',
  'transaction_timeout',
];

interface Asked {
  readonly pinned: readonly string[];
  readonly watched: readonly string[];
  readonly roles: readonly string[];
  /** The role whose users only read: behind a pooler `migrate` sets this for them. */
  readonly reader: string;
}

// A superuser has every role, and is the user of no program.
const SETTINGS = named<Asked>(
  'foreign_settings',
  `WITH given AS (
      SELECT lower(split_part(pair, '=', 1) COLLATE "C") AS name, substr(pair, strpos(pair, '=') + 1) AS value, r.rolname AS "user",
        ARRAY(SELECT g.rolname FROM pg_roles g WHERE g.rolname = ANY (:roles) AND NOT r.rolsuper AND pg_has_role(r.oid, g.oid, 'MEMBER')) AS roles
      FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS pair LEFT JOIN pg_roles r ON r.oid = s.setrole
      WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())))
    SELECT name, value, coalesce('user ' || "user", 'database') AS "of" FROM given
      WHERE name <> ALL (:pinned) AND ("user" IS NULL OR "user" = session_user OR cardinality(roles) > 0)
        AND NOT (name IN ('role', 'default_transaction_read_only') AND :reader = ANY (roles))
    UNION ALL SELECT name, setting, 'server' FROM pg_settings
      WHERE name = ANY (:watched) AND setting <> boot_val AND source IN ('environment variable', 'configuration file', 'command line', 'global')
    ORDER BY 1, 3`,
);

/**
 * What an administrator has set for this database or for the users of the programs, and the sessions do not set by
 * themselves; and of the server's configuration what changes what a program can do.
 * @throws DatabaseUnavailableError, DatabaseRefusedError
 */
export function readForeignSettings(database: Database): Promise<ForeignSetting[]> {
  return database.query<ForeignSetting & object>(
    SETTINGS({
      pinned: PINNED_SETTINGS,
      watched: WATCHED,
      roles: Object.values(PROGRAM_ROLES),
      reader: PROGRAM_ROLES.api,
    }),
  );
}
