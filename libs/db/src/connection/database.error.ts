import { QueryFailedError } from 'typeorm';
import { type LowmarkError, PermanentError, RetryableError } from '#libs/domain';

/** What the server says by the codes of refusals that may pass (appendix A of PostgreSQL's manual). */
const PASSING_STATES: ReadonlyMap<string, string> = new Map([
  ['25006', 'takes no writes: it is a standby, or default_transaction_read_only is on'],
  ['25P03', 'ended a transaction that was idle for too long'],
  ['25P04', 'ended a transaction that took too long: set transaction_timeout to 0 for this user'],
  ['26000', 'has lost a prepared statement'],
  ['40001', 'could not serialize a transaction'],
  ['40P01', 'ended a deadlock'],
  ['42P05', 'has the prepared statement of another session'],
  ['53100', 'has no space left on its disk'],
  ['53200', 'has no memory left'],
  ['53300', 'has no connections left'],
  ['53400', 'has reached a limit of its configuration'],
  ['57014', 'cancelled a statement: it took too long, or was cancelled by hand'],
  ['57P01', 'ended the connection: it shuts down, or an administrator ended it'],
  ['57P02', 'ended the connection after a crash'],
  ['57P03', 'accepts no connections yet: it starts or shuts down'],
  ['57P04', 'was dropped'],
  ['57P05', 'ended an idle session'],
]);
/** Codes by which poolers refuse for many reasons, and PostgreSQL for faults of the machine: the message says which. */
const SAYS_WHY = /^(?:08P01|58...|XX000)$/;
/** A new session has its own prepared statements. */
const OF_THE_SESSION = ['26000', '42P05'];
const POOLER = 'If a pooler gives each transaction another session, set DATABASE_DIRECT_URL';

/** The database does not answer, is starting or overloaded, or cancelled a statement. */
export class DatabaseUnavailableError extends RetryableError {
  constructor(cause: unknown) {
    // An error without a code has a message of the driver ("The server does not support SSL connections").
    const why = codeOf(cause) ?? (isError(cause) ? cause.message : 'no code');
    const text = `The database${serverOf(cause)} ${whatOf(cause, why)} (${why})`;
    const isPooler = OF_THE_SESSION.includes(why) || text.includes('unsupported startup parameter');
    const advice = isPooler ? `. ${POOLER}` : '';
    super('DATABASE_UNAVAILABLE', `${text}${advice}`, { cause });
  }
}

/** The database refuses our user or password. Both may pass: while a password is rotated, one of the two sides is ahead. */
export class LoginRefusedError extends DatabaseUnavailableError {
  constructor(
    /** PostgreSQL's error code. */
    readonly sqlState: string,
    cause: Error,
  ) {
    super(cause);
    this.message = `The database refuses the login (${sqlState}): ${cause.message}. After a new password, restart this program`;
  }
}

/** The database refused a statement because of a constraint, a missing table or right, or a wrong password. */
export class DatabaseRefusedError extends PermanentError {
  /** PostgreSQL's error code, five characters. */
  readonly sqlState: string;

  constructor(sqlState: string, cause: Error) {
    super('DATABASE_REFUSED', `The database refused (${sqlState}): ${cause.message}`, { cause });
    this.sqlState = sqlState;
  }
}

/** PostgreSQL's names and codes of the refusals that callers distinguish. */
const SQL_STATES = {
  check_violation: '23514',
  foreign_key_violation: '23503',
  insufficient_privilege: '42501',
  invalid_schema_name: '3F000',
  lock_not_available: '55P03',
  undefined_table: '42P01',
  unique_violation: '23505',
} as const;

export function isRefusal(
  error: unknown,
  ...reasons: readonly (keyof typeof SQL_STATES)[]
): error is DatabaseRefusedError {
  if (!(error instanceof DatabaseRefusedError)) return false;
  return reasons.some((reason) => SQL_STATES[reason] === error.sqlState);
}

/** Whether a trigger refused under this name, as a constraint does. */
export function isRefusedBy(error: unknown, constraint: string): error is DatabaseRefusedError {
  if (!(error instanceof DatabaseRefusedError)) return false;
  return (error.cause as { constraint?: unknown } | undefined)?.constraint === constraint;
}

export function isNotMigrated(error: unknown): boolean {
  return isRefusal(error, 'invalid_schema_name', 'undefined_table');
}

export function isWithoutRight(error: unknown): boolean {
  return isRefusal(error, 'insufficient_privilege');
}

export class UnsupportedDatabaseError extends PermanentError {
  constructor() {
    super('DATABASE_TOO_OLD', 'The database is older than PostgreSQL 15: upgrade it');
  }
}

/** A table that a migration has to change was in use during all attempts. Nothing was changed. */
export class SchemaBusyError extends RetryableError {
  constructor(cause: unknown) {
    super(
      'SCHEMA_BUSY',
      'A table that has to be changed is in use by a long transaction, however long one waited. Find it (pg_stat_activity, xact_start), ' +
        'let it end, and run `migrate` again. Nothing was changed.',
      { cause },
    );
  }
}

// Class "invalid authorization specification".
const LOGIN_REFUSED = /^28/;
// Classes of errors that may pass: lost connection (08), insufficient resources (53), operator intervention and
// cancelled statements (57), faults of the machine and refusals of poolers (58, XX000), deadlocks and serialisation
// failures (40).
const PASSING = /^(?:(?:08|53|57|58|40)...|XX000)$/;
// A refused write, of which the connection knows whether it may pass: a session that only reads is refused for good.
export const READ_ONLY = '25006';
/** PostgreSQL's function that refuses a prepared statement whose columns have changed since, as a migration does. */
const CHANGED_COLUMNS = 'RevalidateCachedQuery';
const SQL_STATE = /^[0-9A-Z]{5}$/;

/**
 * Converts an error of the driver to a DatabaseUnavailableError or DatabaseRefusedError. Returns any
 * other error unchanged.
 */
export function databaseError(error: unknown): LowmarkError | Error {
  // TypeORM wraps the driver's errors.
  if (error instanceof QueryFailedError) return databaseError(error.driverError);
  // Network errors come from outside the realm that a test runs in, so `instanceof Error` does not recognise them.
  if (!isError(error) || 'retryable' in error) return error as Error;
  const code = codeOf(error);
  const sqlState =
    code !== undefined && SQL_STATE.test(code) && 'severity' in error ? code : undefined;
  if (sqlState !== undefined) {
    if (LOGIN_REFUSED.test(sqlState)) return new LoginRefusedError(sqlState, error);
    const mayPass =
      sqlState !== READ_ONLY && (PASSING.test(sqlState) || PASSING_STATES.has(sqlState));
    return mayPass || isOfTheSession(error)
      ? new DatabaseUnavailableError(error)
      : new DatabaseRefusedError(sqlState, error);
  }
  return code !== undefined || CONNECTION_MESSAGE.test(error.message)
    ? new DatabaseUnavailableError(error)
    : error;
}

/** Whether the refusal is due to the session's prepared statements, so that every use of this session would meet it. */
export function isOfTheSession(error: unknown): boolean {
  const { routine } = error as { routine?: unknown };
  return OF_THE_SESSION.includes(codeOf(error) ?? '') || routine === CHANGED_COLUMNS;
}

// Messages of connection errors that pg raises without a code.
const CONNECTION_MESSAGE =
  /timeout|terminated|not queryable|connection|Query read timeout|^SASL:|authenticationOk|^received invalid response/i;

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

function whatOf(cause: unknown, code: string): string {
  const { message = '', syscall, path } = cause as Partial<Record<string, string>>;
  if (syscall === 'open') return `cannot be asked: the file ${path} of its URL cannot be read`;
  if (code.includes('authenticationOk'))
    return 'wants another login than by a password (pg_hba.conf)';
  if (SAYS_WHY.test(code)) return `refused: ${message}`;
  return PASSING_STATES.get(code) ?? 'did not answer';
}

/** The server that a network error names, with a space first. */
function serverOf(cause: unknown): string {
  const { hostname, address, port } = cause as Partial<Record<string, string | number>>;
  const host = hostname ?? address;
  if (host === undefined) return '';
  return port === undefined ? ` at ${host}` : ` at ${host}:${port}`;
}

function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value;
}
