/** Settings of a whole session: what every program relies on, time limits, role and commit mode. */
import { PermanentError } from '#libs/domain';

/** The read-only role, created by the migrations. */
const READER_ROLE = 'lowmark_reader';

export interface SessionOptions {
  /** Every session takes the reading role, and every transaction is read-only. */
  readonly readOnly?: boolean;
  /** In milliseconds; 0 means no limit. Default: 60 s for writers, 5 s for readers. */
  readonly statementTimeoutMs?: number;
  /**
   * Milliseconds that a statement waits for a lock, advisory locks included. Default: no limit but
   * the statement timeout.
   */
  readonly lockTimeoutMs?: number;
  /**
   * `local`: a commit does not wait for standbys and may be lost in a failover, for data that can be
   * read from the chain again.
   * Default: the server's setting.
   */
  readonly synchronousCommit?: 'local';
}

const WRITER_TIMEOUT_MS = 60_000;
const READER_TIMEOUT_MS = 5000;
/**
 * Milliseconds after which the server ends an idle transaction, so that a leader that stopped
 * within one frees its locks.
 */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Session options of the portal's user, each of whose statements reads the data of one partner. */
export const PORTAL_SESSION = { statementTimeoutMs: READER_TIMEOUT_MS } as const;

/** PostgreSQL's parameters and their values, as pg_settings shows them. Times are in milliseconds. Names in lower case. */
export type SessionSettings = Readonly<Record<string, string>>;

export function statementTimeoutOf({ readOnly, statementTimeoutMs }: SessionOptions): number {
  return statementTimeoutMs ?? (readOnly === true ? READER_TIMEOUT_MS : WRITER_TIMEOUT_MS);
}

/**
 * PostgreSQL's own defaults, which an administrator may have changed for the database or the user: the statements and
 * the driver rely on them.
 */
const PINNED = {
  array_nulls: 'on',
  bytea_output: 'hex',
  // `CheckedClient` sees by a warning that no standby confirmed a commit.
  client_min_messages: 'notice',
  datestyle: 'ISO, MDY',
  // A standby refuses `serializable`.
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  idle_session_timeout: '0',
  intervalstyle: 'postgres',
  quote_all_identifiers: 'off',
  row_security: 'on',
  // Statements name the schema of all else.
  search_path: 'pg_catalog',
  standard_conforming_strings: 'on',
  timezone: 'UTC',
} as const satisfies SessionSettings;

export function sessionSettings(options: SessionOptions): SessionSettings {
  const { readOnly, lockTimeoutMs = 0, synchronousCommit } = options;
  return {
    ...PINNED,
    statement_timeout: String(statementTimeoutOf(options)),
    lock_timeout: String(lockTimeoutMs),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    ...(synchronousCommit !== undefined && { synchronous_commit: synchronousCommit }),
    ...(readOnly === true && { role: READER_ROLE, default_transaction_read_only: 'on' }),
  };
}

/** Sessions do not have the settings that the program needs. */
export class SessionDefaultsError extends PermanentError {
  constructor(different: readonly string[], isPooled: boolean) {
    super(
      'SESSION_DEFAULTS_MISSING',
      `${isPooled ? 'Behind the pooler sessions' : 'Sessions'} have other settings than this program needs: ${different.join('; ')}. ` +
        `${isPooled ? SET_DEFAULTS : NO_POOLER} See docs/operating/scaling.md#pgbouncer.`,
    );
  }
}

const SET_DEFAULTS =
  'Run `migrate` with DATABASE_DIRECT_URL and the URL of this program, then let the pooler connect again (RECONNECT on its console).';
const NO_POOLER =
  'A pooler leaves out the startup options of this program (ignore_startup_parameters): let it pass them on, or set DATABASE_DIRECT_URL.';

/**
 * Names of settings that every session of every program sets by itself, whatever the database or the user has. In lower
 * case.
 */
export const PINNED_SETTINGS: readonly string[] = Object.keys(sessionSettings({}));

interface Queryable {
  query<R extends object>(statement: { text: string }, values: readonly unknown[]): Promise<R[]>;
}

/** Settings of a session that differ from the wanted ones. */
export async function differentSettings(
  session: Queryable,
  wanted: SessionSettings,
): Promise<{ name: string; found: string | undefined; wanted: string }[]> {
  const rows = await session.query<{ name: string; value: string }>(
    {
      // In a database whose locale is Turkish, lower('IntervalStyle') has another i.
      text: `SELECT lower(name COLLATE "C") AS name, setting AS value FROM pg_settings WHERE lower(name COLLATE "C") = ANY ($1)
        UNION ALL SELECT 'role', current_user::text`,
    },
    [Object.keys(wanted)],
  );
  const found = new Map(rows.map(({ name, value }) => [name, value]));
  return Object.entries(wanted)
    .map(([name, value]) => ({ name, found: found.get(name), wanted: value }))
    .filter((one) => one.found !== one.wanted);
}

/**
 * Checks that sessions begin with the settings that the program asks for. Behind a pooler these are the defaults of the
 * database user; some poolers leave out startup options without an error.
 * @throws SessionDefaultsError, and what the query throws
 */
export async function requireSessionDefaults(
  database: Queryable,
  wanted: SessionSettings,
  isPooled = false,
): Promise<void> {
  const different = await differentSettings(database, wanted);
  if (different.length === 0) return;
  throw new SessionDefaultsError(
    different.map((one) => `${one.name} is ${one.found ?? 'unknown'}, not ${one.wanted}`),
    isPooled,
  );
}
