import { ConnectionWatch } from './connection-watch.js';
import { HostChoice, serverConfig } from './host-choice.js';
import { type SchemaDemand } from './schema-check.js';
import { type SessionOptions, sessionSettings, statementTimeoutOf } from './session-settings.js';
import { type SupervisedConfig } from './supervised-client.js';

export interface DatabaseOptions extends SessionOptions {
  /**
   * A libpq URL, which may name several hosts; target_session_attrs, sslmode, sslrootcert and options in it are honoured,
   * application_name is not.
   */
  readonly url: string;
  /**
   * Where it is set, `url` is a pooler's, which gives each transaction another session (PgBouncer's transaction mode), and this is the
   * same database without it.
   */
  readonly directUrl?: string | undefined;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  /** The most connections held at once. Default 4. */
  readonly poolSize?: number;
  /** Default: not newer than this program. */
  readonly schema?: SchemaDemand;
  /** Told of what happens on idle connections; such errors never end the process. */
  readonly onError?: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** A connection on which nothing is said notices by it that the server's machine is gone. */
const KEEP_ALIVE_MS = 10_000;

/** What pg needs for connections to one of the hosts, and what looks after them. */
export function connectionOptions(options: DatabaseOptions): SupervisedConfig {
  const { url, directUrl, readOnly = false } = options;
  const pooled = directUrl !== undefined;
  const hosts = new HostChoice(url);
  const statementTimeout = statementTimeoutOf(options);
  // A hung server is not noticed through a pooler that lives. A reader has a time limit of its own.
  const besides = pooled && !readOnly ? serverConfig(new HostChoice(directUrl).current) : undefined;
  return {
    supervision: { hosts, watch: new ConnectionWatch(besides), readOnly, pooled },
    // A pooler takes no settings of the session; see requireSessionDefaults.
    session: pooled ? {} : sessionSettings(options),
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // A reader also gives up where the server no longer answers at all.
    ...(readOnly && statementTimeout > 0 ? { query_timeout: statementTimeout + 1000 } : {}),
  };
}
