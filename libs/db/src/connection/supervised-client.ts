/**
 * pg's client with what pg leaves to its user: the server is the one that the URL asks for, is left when it does not take writes or
 * answer any more, and a commit that no standby confirmed is not reported as done.
 */
import pg, { type ClientConfig } from 'pg';
import { within } from '#libs/platform';
import { isStream } from './client-methods.js';
import { type ConnectionWatch, type WatchedClient } from './connection-watch.js';
import {
  databaseError,
  DatabaseRefusedError,
  DatabaseUnavailableError,
  mayPass,
} from './database.error.js';
import { type HostChoice, serverConfig } from './host-choice.js';
import { type SessionSettings } from './session-settings.js';
import { isTarget, noteReport, type ReportedState } from './session-target.js';

export interface Supervision {
  readonly hosts: HostChoice;
  /** Told of every client that is connected. */
  readonly watch: ConnectionWatch;
  /** The session reads only; a write that is refused then is a fault of the program and not of the server. */
  readonly readOnly: boolean;
  /** A pooler gives each transaction another session, so statements cannot stay prepared under a name. */
  readonly pooled: boolean;
}

export interface SupervisedConfig extends ClientConfig {
  readonly supervision: Supervision;
  /** What holds for the session from its first statement on. */
  readonly session: SessionSettings;
}

/** Where there is another host to try. */
const HOST_TIMEOUT_MS = 2000;
/** A goodbye to a server that does not answer, or a way to it that is held, would wait for ever. */
const GOODBYE_MS = 1000;
const READ_ONLY = '25006';
/** pg has no code for it. */
const READ_TIMEOUT = 'Query read timeout';
/** The server's function that waits for a standby; its messages are translated, its name is not. */
const WAITS_FOR_STANDBY = 'SyncRepWaitForLSN';

type Callback = (error: Error | null | undefined, result?: unknown) => void;

export class SupervisedClient extends pg.Client implements WatchedClient {
  silentTicks = 0;
  private isBusy = false;
  private bytesRead = 0;
  private isUnconfirmed = false;
  private readonly reported: ReportedState = {};
  // They hold a password: not to be shown where the client is, which an error of pg's pool brings along.
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

  leaveHost(reason: string): void {
    this.#supervision.watch.leaveSoon(this.#url, reason);
  }

  /** As pg's, in all its forms. */
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
        // The statement goes on at the server, and what came after it here would wait for it.
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

  /** Says goodbye, and does not wait for an answer that does not come. Never fails. */
  async close(): Promise<void> {
    const ended = this.end().catch(() => undefined);
    await within(GOODBYE_MS, ended, () => this.connection.stream.destroy());
  }

  private async connectToTarget(): Promise<pg.Client> {
    const { hosts, readOnly, watch } = this.#supervision;
    try {
      await super.connect();
      if (!isTarget(hosts.target, this.reported, readOnly)) {
        throw new DatabaseUnavailableError(new Error(`no server is ${hosts.target} now`));
      }
    } catch (error) {
      // Wrong credentials are wrong everywhere.
      if (!(databaseError(error) instanceof DatabaseRefusedError)) hosts.failed(this.#url);
      // What is half open is closed.
      void this.close();
      throw error;
    }
    watch.add(this);
    return this;
  }

  private listen(): void {
    const { readOnly } = this.#supervision;
    // What is lost between two statements is told by the next one; an unheard error would end the process.
    this.on('error', () => undefined);
    // Types of pg leave out its messages.
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
    // Before pg's own listener, which hands the error to the statement.
    messages.prependListener('errorMessage', (error: Error & { code?: string }) => {
      if (error.code !== READ_ONLY || readOnly) return;
      mayPass(error);
      this.leaveHost('the server does not take writes');
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
  // What is submitted must stay the object that its caller listens to.
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
