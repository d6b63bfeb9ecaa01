/** pg's client as every connection of a program uses it; `connectionOptions` makes its options. */
import { Writable } from 'node:stream';
import pg, { type ClientConfig, type Connection } from 'pg';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { inChildSpan, tracingIsOn } from '#libs/platform';
import { inSchema, schemaOf } from './stake-set.js';
import { DatabaseUnavailableError, READ_ONLY } from './database.error.js';
import { type Statement } from './named.js';
import { type SessionSettings } from './session-settings.js';
import { spanOf, traceCopy } from './trace-statements.js';

export interface CheckedConfig extends ClientConfig {
  /** A function, because the URL has a password: where the options are printed, it is not shown. */
  readonly server: () => URL;
  /** Settings that hold from the first statement of the session on. */
  readonly session: SessionSettings;
  /** The session reads only, so that a refused write is a fault of the program and not of the server. */
  readonly readOnly: boolean;
  /** A pooler gives each transaction another session, so statements cannot stay prepared under a name. */
  readonly isPooled: boolean;
}

/** Time limit for an orderly close, which would wait for ever at a hung server or a blocked network. */
const GOODBYE_MS = 1000;
/** pg's message for an exceeded `query_timeout`, which has no code. */
const READ_TIMEOUT = 'Query read timeout';
/** The server's function that waits for a standby, as in its notices. Their texts are translated, the name is not. */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

/**
 * - A commit that no standby confirmed is reported as an error.
 * - A connection to a server that takes no writes any more is closed, and the error is retryable.
 * - Behind a pooler statements have no names.
 * - Statements use the tables of one stake set.
 * - Within an open span each statement has a span.
 * - `end` is bounded.
 * - An answer that pg cannot read closes the connection.
 *
 * The checks hold for statements whose result is a promise, as all writes of the programs are.
 */
export class CheckedClient extends pg.Client {
  /** The schema whose tables the statements use in place of those of the default stake set. */
  schema = schemaOf(DEFAULT_STAKE_SET);
  /** How long the next statements may take until they are answered. Undefined: as long as the options say. */
  answerTimeoutMs: number | undefined;
  private isUnconfirmed = false;
  private readonly isPooled: boolean;
  private readonly readOnly: boolean;
  private readonly isTraced = tracingIsOn();

  constructor({ server, session, readOnly, isPooled, ...given }: CheckedConfig) {
    super({ ...given, ...serverConfig(server(), session) });
    this.isPooled = isPooled;
    this.readOnly = readOnly;
    // The next statement reports a connection that was lost between two statements. An unhandled error event
    // would end the process.
    this.on('error', () => undefined);
    for (const opened of ['connect', 'sslconnect']) {
      this.connection.once(opened, () => {
        guard(this.connection.stream);
      });
    }
    this.on('notice', ({ routine }) => {
      if (routine === WAITS_FOR_STANDBY) this.isUnconfirmed = true;
    });
  }

  /** pg's `query` in all its forms. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it returns depends on the form
  override query(first: unknown, ...rest: unknown[]): any {
    const statement = this.adapted(first);
    if (!this.isTraced || typeof rest.at(-1) === 'function') return this.send(statement, rest);
    if (!isSubmitted(statement)) {
      return inChildSpan(spanOf(statement), () => this.send(statement, rest) as Promise<unknown>);
    }
    const stream = this.send(statement, rest);
    if (stream instanceof Writable) traceCopy(stream);
    return stream;
  }

  /** Ends in an orderly way, or by force where the server does not answer in time. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const goodbye = setTimeout(() => {
      this.leave('the server does not answer');
    }, GOODBYE_MS);
    const ended = super.end().finally(() => {
      clearTimeout(goodbye);
    });
    if (callback === undefined) return ended;
    ended.then(callback as () => void, callback);
  }

  private send(statement: object, rest: readonly unknown[]): unknown {
    this.isUnconfirmed = false;
    const result = (super.query as (...args: unknown[]) => unknown).call(this, statement, ...rest);
    if (!isPromise(result)) return result;
    return result.then(
      (value) => {
        if (this.isUnconfirmed) throw unconfirmed();
        return value;
      },
      (error: unknown) => {
        const { message, code } = error as Error & { code?: string };
        // The statement goes on at the server, and later statements of this connection would wait for its end.
        if (message === READ_TIMEOUT) this.leave('a statement was not answered');
        if (code !== READ_ONLY || this.readOnly) throw error;
        this.leave('the server does not take writes');
        throw new DatabaseUnavailableError(error);
      },
    );
  }

  private adapted(given: unknown): Statement {
    const statement = typeof given === 'string' ? { text: given } : (given as Statement);
    const { name, text } = inSchema(statement, this.schema);
    const changes = {
      ...{ name: this.isPooled ? undefined : name, text },
      ...(this.answerTimeoutMs !== undefined && { query_timeout: this.answerTimeoutMs }),
    };
    // The caller writes to a stream or listens to a query, so that a copy cannot replace it.
    return isSubmitted(statement)
      ? Object.assign(statement, changes)
      : { ...statement, ...changes };
  }

  /** Closes the connection at once. What waits for it fails with this error. */
  private leave(reason: string): void {
    this.connection.stream.destroy(new Error(`The connection was closed: ${reason}`));
  }
}

/** pg throws where its parser meets what it does not know, such as a login by GSSAPI, which would end the process. */
function guard(stream: Connection['stream']): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string, ...args: unknown[]) => {
    try {
      return emit(event, ...args);
    } catch (error) {
      if (event !== 'data') throw error;
      stream.destroy(error as Error);
      return true;
    }
  };
}

/** The session settings are part of the start-up packet, so they hold for the first statement. */
function serverConfig(url: URL, session: SessionSettings): ClientConfig {
  // In pg, `options` of the URL would replace the session settings. Both are sent, the session settings last,
  // because the last value wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Nor may the URL replace the application name, by which `countPrograms` counts programs, or a time limit.
  for (const name of ['application_name', 'query_timeout', ...Object.keys(session)]) {
    url.searchParams.delete(name);
  }
  // In libpq: the certificates that the system trusts, and the host name is checked.
  if (url.searchParams.get('sslrootcert') === 'system') {
    url.searchParams.delete('sslrootcert');
    url.searchParams.set('sslmode', 'verify-full');
  }
  // sslmode has libpq's meaning: `require` encrypts, `verify-full` also checks the host name.
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  const all = [
    ...(given === null ? [] : [given]),
    ...Object.entries(session).map(([name, value]) => `-c ${name}=${escaped(value)}`),
  ];
  return {
    connectionString: url.href,
    ...(all.length > 0 && { options: all.join(' ') }),
  };
}

/** The server splits `options` at spaces that no backslash precedes. */
function escaped(value: string): string {
  return value.replaceAll(/[\\ ]/g, String.raw`\$&`);
}

/**
 * Whether the statement is an object that pg submits itself: a COPY stream, or a query whose rows arrive as events.
 */
function isSubmitted(statement: object): boolean {
  return 'submit' in statement;
}

function unconfirmed(): DatabaseUnavailableError {
  return new DatabaseUnavailableError(
    new Error(
      'no synchronous standby confirmed the commit: whether it lasts is known to the server only',
    ),
  );
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
