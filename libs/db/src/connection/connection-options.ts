import { DatabaseUrl } from '#libs/platform';
import { type CheckedConfig } from './checked-client.js';
import { type SessionOptions, sessionSettings, statementTimeoutOf } from './session-settings.js';

export interface DatabaseOptions extends SessionOptions {
  /** A libpq URL. Its sslmode, sslrootcert and options are honoured, its application_name is ignored. */
  readonly url: string;
  /**
   * Whether the URL leads to a pooler that gives each transaction another session (PgBouncer's transaction mode).
   * Default: false.
   */
  readonly isPooled?: boolean;
  /** Name of the sessions in pg_stat_activity. */
  readonly applicationName: string;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Milliseconds of silence before TCP keep-alive probes, which detect that the server's machine is gone. */
const KEEP_ALIVE_MS = 10_000;
/**
 * Milliseconds that a program waits beyond the server's statement timeout, which a server that hangs does not enforce,
 * and which counts neither a commit's wait for standbys nor the time that a statement waits in a pooler.
 */
const UNANSWERED_MS = { writer: 5000, reader: 1000 };

/** The options of every connection, in a pool or by itself. @throws the errors of `DatabaseUrl.parse` */
export function connectionOptions(options: DatabaseOptions): CheckedConfig {
  const { readOnly = false, isPooled = false } = options;
  const url = DatabaseUrl.parse(options.url);
  return {
    server: () => new URL(url.href),
    // A pooler accepts no session settings. requireSessionDefaults checks the sessions.
    session: isPooled ? {} : sessionSettings(options),
    readOnly,
    isPooled,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: answerTimeoutOf(statementTimeoutOf(options), readOnly),
  };
}

/** How long a program waits for the answer to a statement; 0 means no limit. In milliseconds. */
export function answerTimeoutOf(statementTimeoutMs: number, readOnly = false): number {
  if (statementTimeoutMs === 0) return 0;
  return statementTimeoutMs + (readOnly ? UNANSWERED_MS.reader : UNANSWERED_MS.writer);
}
