import { ConnectionWatch } from './connection-watch.js';
import { HostChoice, serverConfig } from './host-choice.js';
import { type SchemaDemand } from './schema-check.js';
import { type MigrationClass } from './schema-migration.js';
import { type SessionOptions, sessionSettings, statementTimeoutOf } from './session-settings.js';
import { type SupervisedConfig } from './supervised-client.js';

export interface DatabaseOptions extends SessionOptions {
  /**
   * A libpq URL, which may name several hosts. Its target_session_attrs, sslmode, sslrootcert and options are honoured,
   * its application_name is ignored.
   */
  readonly url: string;
  /**
   * URL of the same database without a pooler. Set only where `url` leads to a pooler that gives each transaction
   * another session (PgBouncer's transaction mode).
   */
  readonly directUrl?: string | undefined;
  /** Name of the sessions in pg_stat_activity. */
  readonly applicationName: string;
  /** Maximum number of open connections. Default 4. */
  readonly poolSize?: number;
  /** Default: `not-newer`. */
  readonly schema?: SchemaDemand;
  /** Default: those of this program. */
  readonly migrations?: readonly MigrationClass[];
  /** Called for errors of idle connections. These errors never end the process. */
  readonly onError?: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Milliseconds of silence before TCP keep-alive probes, which detect that the server's machine is gone. */
const KEEP_ALIVE_MS = 10_000;

/**
 * pg's options for connections to the hosts of the URL, with the host choice and the watch that
 * these connections share.
 */
export function connectionOptions(options: DatabaseOptions): SupervisedConfig {
  const { url, directUrl, readOnly = false } = options;
  const pooled = directUrl !== undefined;
  const hosts = new HostChoice(url);
  const statementTimeout = statementTimeoutOf(options);
  // Behind a pooler that is alive a hung server goes unnoticed, so the watch also probes the direct URL. A reader does
  // not need the probe: it has the `query_timeout` below.
  const besides = pooled && !readOnly ? serverConfig(new HostChoice(directUrl).current) : undefined;
  return {
    supervision: { hosts, watch: new ConnectionWatch(besides), readOnly, pooled },
    // A pooler accepts no session settings. requireSessionDefaults checks the sessions instead.
    session: pooled ? {} : sessionSettings(options),
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // The server cannot enforce statement_timeout while it hangs. With `query_timeout` a reader gives up anyway.
    ...(readOnly && statementTimeout > 0 ? { query_timeout: statementTimeout + 1000 } : {}),
  };
}
