/** What holds for a whole session: how long a statement may take, and what it may do. */
import { PermanentError } from '#libs/domain';

/** The role that may only read; created by the migrations. */
const READER_ROLE = 'lowmark_reader';

export interface SessionOptions {
  /** Every session takes the reading role, and every transaction is read-only. */
  readonly readOnly?: boolean;
  /** Default 60 s for writers, 5 s for readers; 0 is no limit. */
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock, advisory ones included. Default: no limit but the statement's. */
  readonly lockTimeoutMs?: number;
  /**
   * `local`: a commit does not wait for standbys, and may be missing after a failover. For what can be read again from the chain.
   * Default: as the server is set.
   */
  readonly synchronousCommit?: 'local';
}

const WRITER_TIMEOUT_MS = 60_000;
const READER_TIMEOUT_MS = 5000;
/** A leader that stopped in the middle of a transaction frees its locks after this time. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Of the portal's user, whose statements read what one partner asks for. */
export const PORTAL_SESSION = { statementTimeoutMs: READER_TIMEOUT_MS } as const;

/** PostgreSQL's parameters and their values, as pg_settings shows them; of times, milliseconds. */
export type SessionSettings = Readonly<Record<string, string>>;

export function statementTimeoutOf({ readOnly, statementTimeoutMs }: SessionOptions): number {
  return statementTimeoutMs ?? (readOnly === true ? READER_TIMEOUT_MS : WRITER_TIMEOUT_MS);
}

export function sessionSettings(options: SessionOptions): SessionSettings {
  const { readOnly, lockTimeoutMs, synchronousCommit } = options;
  return {
    statement_timeout: String(statementTimeoutOf(options)),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    timezone: 'UTC',
    ...(lockTimeoutMs !== undefined && { lock_timeout: String(lockTimeoutMs) }),
    ...(synchronousCommit !== undefined && { synchronous_commit: synchronousCommit }),
    ...(readOnly === true && { role: READER_ROLE, default_transaction_read_only: 'on' }),
  };
}

/** Behind a pooler sessions are not as the program needs them. */
export class SessionDefaultsError extends PermanentError {
  constructor(different: readonly string[]) {
    super(
      'SESSION_DEFAULTS_MISSING',
      `Behind the pooler sessions have other settings than this program needs: ${different.join('; ')}. Run \`migrate\` with DATABASE_DIRECT_URL ` +
        'and the URL of this program, then let the pooler connect anew (RECONNECT on its console). See docs/operating/pooling.md.',
    );
  }
}

interface Queryable {
  query<R extends object>(statement: { text: string }, values: readonly unknown[]): Promise<R[]>;
}

/** A pooler's sessions begin with the defaults of their user. @throws SessionDefaultsError, and what the query throws */
export async function requireSessionDefaults(
  database: Queryable,
  wanted: SessionSettings,
): Promise<void> {
  const rows = await database.query<{ name: string; value: string }>(
    {
      text: `SELECT lower(name) AS name, setting AS value FROM pg_settings WHERE lower(name) = ANY ($1)
        UNION ALL SELECT 'role', current_user::text`,
    },
    [Object.keys(wanted)],
  );
  const found = new Map(rows.map(({ name, value }) => [name, value]));
  const different = Object.entries(wanted).filter(([name, value]) => found.get(name) !== value);
  if (different.length === 0) return;
  throw new SessionDefaultsError(
    different.map(([name, value]) => `${name} is ${found.get(name) ?? 'unknown'}, not ${value}`),
  );
}
