import { type SchemaDemand } from './schema-check.js';
import { type PoolConfig } from 'pg';

/** The role that may only read; created by the migrations. */
const READER_ROLE = 'lowmark_reader';

export interface DatabaseOptions {
  /** A libpq URL; sslmode, sslrootcert and options in it are honoured, application_name is not. */
  readonly url: string;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  /** The most connections held at once. Default 4. */
  readonly poolSize?: number;
  /** Every session takes the reading role, and every transaction is read-only. */
  readonly readOnly?: boolean;
  /** Default 60 s for writers, 5 s for readers; 0 is no limit. */
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for a lock, advisory ones included. Default: no limit but the statement's. */
  readonly lockTimeoutMs?: number;
  /** Default: not newer than this program. */
  readonly schema?: SchemaDemand;
  /** Told of what happens on idle connections; such errors never end the process. */
  readonly onError?: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5000;
const WRITER_TIMEOUT_MS = 60_000;
const READER_TIMEOUT_MS = 5000;
/** A leader that stopped in the middle of a transaction frees its locks after this time. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * What pg needs for a connection. The settings of the session travel in the start-up packet, so no statement can run before
 * them.
 */
export function connectionOptions(options: DatabaseOptions): PoolConfig {
  const url = new URL(options.url);
  const readOnly = options.readOnly === true;
  const statementTimeout =
    options.statementTimeoutMs ?? (readOnly ? READER_TIMEOUT_MS : WRITER_TIMEOUT_MS);
  const session = [
    `-c statement_timeout=${statementTimeout}`,
    `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
    '-c timezone=UTC',
    ...(options.lockTimeoutMs === undefined ? [] : [`-c lock_timeout=${options.lockTimeoutMs}`]),
    ...(readOnly ? [`-c role=${READER_ROLE}`, '-c default_transaction_read_only=on'] : []),
  ];
  // pg lets `options` of the URL replace ours; both are meant, ours last because the last one wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Neither may it replace our name, by which programs are counted.
  url.searchParams.delete('application_name');
  // sslmode means what it means to libpq: `require` encrypts, `verify-full` also checks the name.
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  return {
    connectionString: url.href,
    application_name: options.applicationName,
    options: [...(given === null ? [] : [given]), ...session].join(' '),
    max: options.poolSize ?? 4,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // A reader also gives up where the server no longer answers at all.
    ...(readOnly && statementTimeout > 0 ? { query_timeout: statementTimeout + 1000 } : {}),
  };
}
