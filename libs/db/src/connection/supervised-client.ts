/**
 * pg's client with three checks that pg leaves to its user: the server is of the kind that the URL asks for; a server
 * that does not answer or take writes any more is left; a commit that no standby confirmed is reported as an error.
 */
import pg, { type ClientConfig } from 'pg';
import { withTimeout } from '#libs/platform';
import { isStream } from './client-methods.js';
import { type ConnectionWatch, type WatchedClient } from './connection-watch.js';
import {
  databaseError,
  DatabaseRefusedError,
  DatabaseUnavailableError,
  markRetryable,
} from './database.error.js';
import { type HostChoice, serverConfig } from './host-choice.js';
import { type SessionSettings } from './session-settings.js';
import { isTarget, noteReport, type ReportedState } from './session-target.js';

export interface Supervision {
  readonly hosts: HostChoice;
  /** Each client registers with the watch once it is connected. */
  readonly watch: ConnectionWatch;
  /** The session reads only, so that a refused write is a fault of the program and not of the server. */
  readonly readOnly: boolean;
  /** A pooler gives each transaction another session, so statements cannot stay prepared under a name. */
  readonly pooled: boolean;
}

export interface SupervisedConfig extends ClientConfig {
  readonly supervision: Supervision;
  /** Settings that hold from the first statement of the session on. */
  readonly session: SessionSettings;
}

/** Connection timeout where the URL names several hosts. */
const HOST_TIMEOUT_MS = 2000;
/** Time limit for an orderly close, which would wait for ever at a hung server or a blocked network. */
const GOODBYE_MS = 1000;
const READ_ONLY = '25006';
/** pg's message for an exceeded `query_timeout`, which has no code. */
const READ_TIMEOUT = 'Query read timeout';
/** The server's function that waits for a standby, as in its notices. Their texts are translated, the name is not. */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

type Callback = (error: Error | null | undefined, result?: unknown) => void;

export class SupervisedClient extends pg.Client implements WatchedClient {
  silentTicks = 0;
  private isBusy = false;
  private bytesRead = 0;
  private isUnconfirmed = false;
  private readonly reported: ReportedState = {};
  // These fields hold a password. `#` hides them where the client is printed, for example as part of
  // an error of pg's pool.
  readonly #supervision: Supervision;
  readonly #url: URL;
  readonly #config: ClientConfig;

  constructor({ supervision, session, ...given }: SupervisedConfig) {
    const { current: url, isSingle } = supervision.hosts;
    const config = {
      ...given,
      ...serverConfig(url, session),
      ...(!isSingle && { connectionTimeoutMillis: HOST_TIMEOUT_MS }),
    };
    super(config);
    this.#supervision = supervision;
    this.#url = url;
    this.#config = config;
    this.listen();
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    const connecting = this.connectToTarget();
    if (callback === undefined) return connecting;
    const done = callback as unknown as (error: unknown, client?: pg.Client) => void;
    connecting.then(
      (client) => {
        done(null, client);
      },
      (error: unknown) => {
        done(error);
      },
    );
  }

  get ownConfig(): ClientConfig {
    return this.#config;
  }

  isAt(host: URL): boolean {
    return this.#url === host;
  }

  closeAllToSameHost(reason: string): void {
    this.#supervision.watch.closeConnectionsTo(this.#url, reason);
  }

  /** pg's `query` in all its forms. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it returns depends on the form
  override query(...args: unknown[]): any {
    this.isBusy = true;
    this.isUnconfirmed = false;
    if (this.#supervision.pooled) args[0] = withoutName(args[0]);
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

  countSilence(): void {
    const { bytesRead = 0 } = this.connection.stream as { bytesRead?: number };
    const isSilent = this.isBusy && bytesRead === this.bytesRead;
    this.silentTicks = isSilent ? this.silentTicks + 1 : 0;
    this.bytesRead = bytesRead;
  }

  leave(error: Error): void {
    this.#supervision.hosts.failed(this.#url);
    this.connection.stream.destroy(error);
  }

  /** Closes the connection in an orderly way, or by force where the server does not answer in time. Never rejects. */
  async close(): Promise<void> {
    const ended = this.end().catch(() => undefined);
    await withTimeout(GOODBYE_MS, ended, () => this.connection.stream.destroy());
  }

  private async connectToTarget(): Promise<pg.Client> {
    const { hosts, readOnly, watch } = this.#supervision;
    try {
      await super.connect();
      if (!isTarget(hosts.target, this.reported, readOnly)) {
        throw new DatabaseUnavailableError(new Error(`no server is ${hosts.target} now`));
      }
    } catch (error) {
      // A refusal, for example of a password, would be the same at each host.
      if (!(databaseError(error) instanceof DatabaseRefusedError)) hosts.failed(this.#url);
      // Where the server is of the wrong kind, the connection is open and has to be closed.
      void this.close();
      throw error;
    }
    watch.add(this);
    return this;
  }

  private listen(): void {
    const { readOnly } = this.#supervision;
    // The next statement reports a connection that was lost between two statements. An unhandled error event
    // would end the process.
    this.on('error', () => undefined);
    // pg's types do not declare the messages of a connection.
    const messages: NodeJS.EventEmitter = this.connection;
    messages.on('parameterStatus', (message: { parameterName: string; parameterValue: string }) => {
      noteReport(this.reported, message.parameterName, message.parameterValue);
    });
    messages.on('readyForQuery', () => {
      this.isBusy = false;
    });
    messages.on('notice', ({ routine }: { routine?: string }) => {
      if (routine === WAITS_FOR_STANDBY) this.isUnconfirmed = true;
    });
    // This listener runs before pg's own one, which passes the error to the statement.
    messages.prependListener('errorMessage', (error: Error & { code?: string }) => {
      if (error.code !== READ_ONLY || readOnly) return;
      markRetryable(error);
      this.closeAllToSameHost('the server does not take writes');
    });
  }

  private confirmed(callback: Callback): Callback {
    return (error, result) => {
      if (!error && this.isUnconfirmed) callback(unconfirmed());
      else callback(error, result);
    };
  }
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
