/** pg's client as every connection of a program uses it; `connectionOptions` makes its options. */
import pg, { type ClientConfig } from 'pg';
import { isStream } from './client-methods.js';
import { DatabaseUnavailableError, markRetryable } from './database.error.js';
import { type SessionSettings } from './session-settings.js';

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
const READ_ONLY = '25006';
/** pg's message for an exceeded `query_timeout`, which has no code. */
const READ_TIMEOUT = 'Query read timeout';
/** The server's function that waits for a standby, as in its notices. Their texts are translated, the name is not. */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

interface HasTimeout {
  readonly connectionParameters: { query_timeout: number };
}

type Callback = (error: Error | null | undefined, result?: unknown) => void;

/**
 * - A commit that no standby confirmed is reported as an error.
 * - A connection to a server that takes no writes any more is closed, and the error is retryable.
 * - Behind a pooler statements have no names.
 * - `end` is bounded.
 */
export class CheckedClient extends pg.Client {
  private isUnconfirmed = false;
  private readonly isPooled: boolean;
  private readonly answerTimeoutMs: number;

  constructor({ server, session, readOnly, isPooled, ...given }: CheckedConfig) {
    super({ ...given, ...serverConfig(server(), session) });
    this.isPooled = isPooled;
    this.answerTimeoutMs = given.query_timeout ?? 0;
    // The next statement reports a connection that was lost between two statements. An unhandled error event
    // would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ routine }) => {
      if (routine === WAITS_FOR_STANDBY) this.isUnconfirmed = true;
    });
    // pg's types do not declare the messages of a connection.
    const messages: NodeJS.EventEmitter = this.connection;
    // This listener runs before pg's own one, which passes the error to the statement.
    messages.prependListener('errorMessage', (error: Error & { code?: string }) => {
      if (error.code !== READ_ONLY || readOnly) return;
      markRetryable(error);
      // The statement gets its own error first.
      setImmediate(() => {
        this.leave('the server does not take writes');
      });
    });
  }

  /** pg's `query` in all its forms. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it returns depends on the form
  override query(...args: unknown[]): any {
    this.isUnconfirmed = false;
    if (this.isPooled) args[0] = withoutName(args[0]);
    const last = args.length - 1;
    const callback = args[last];
    if (typeof callback === 'function') args[last] = this.confirmed(callback as Callback);
    const result = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    if (!isPromise(result)) return result;
    return result.then(
      (value) => {
        if (this.isUnconfirmed) throw unconfirmed();
        return value;
      },
      (error: unknown) => {
        // The statement goes on at the server, and later statements of this connection would wait for its end.
        if (error instanceof Error && error.message === READ_TIMEOUT) {
          this.connection.stream.destroy();
        }
        throw error;
      },
    );
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

  /** Changes how long the next statements may take until they are answered. Default: as long as at first. */
  setAnswerTimeout(ms = this.answerTimeoutMs): void {
    // pg's types do not declare where pg finds the limit of each statement.
    const { connectionParameters } = this as unknown as HasTimeout;
    connectionParameters.query_timeout = ms;
  }

  /** Closes the connection at once. What waits for it fails with this error. */
  private leave(reason: string): void {
    this.connection.stream.destroy(new Error(`The connection was closed: ${reason}`));
  }

  private confirmed(callback: Callback): Callback {
    return (error, result) => {
      if (!error && this.isUnconfirmed) callback(unconfirmed());
      else callback(error, result);
    };
  }
}

/** The session settings are part of the start-up packet, so they hold for the first statement. */
function serverConfig(url: URL, session: SessionSettings): ClientConfig {
  // In pg, `options` of the URL would replace the session settings. Both are sent, the session settings last,
  // because the last value wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Nor may the URL replace the application name, by which `countPrograms` counts programs.
  url.searchParams.delete('application_name');
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

function withoutName(statement: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || !('name' in statement)) {
    return statement;
  }
  // The caller listens to this object, so that a copy cannot replace it.
  if (isStream(statement)) return Object.assign(statement, { name: undefined });
  return { ...(statement as object), name: undefined };
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
