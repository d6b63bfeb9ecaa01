import { setImmediate as nextTurn } from 'node:timers/promises';
import { callDeadline, ExchangeFault } from './call-fault.js';
import { dial, type DialOptions, type DialProgress, type PartnerUrl } from './dial.js';
import { type Arrived, Connection, type ExchangeLimits, type WireRequest } from './exchange.js';

/** Where a request goes, and the progress of the connection to there. */
export interface Destination {
  /** Connections of one key serve no other key. */
  readonly key: string;
  readonly url: PartnerUrl;
  readonly dialled: DialProgress;
}

/** One connection to a partner, as a call uses it. */
export interface OpenConnection {
  /** Connection.exchange */
  exchange(request: WireRequest, limits: ExchangeLimits, arrived: Arrived): Promise<number>;
  destroy(): void;
}

/** Where the calls get their connections. Below it is the network. */
export interface ConnectionSource {
  /** KeptConnections.use */
  use<T>(
    to: Destination,
    signal: AbortSignal,
    send: (connection: OpenConnection) => Promise<T>,
  ): Promise<T>;
  keep(key: string, connection: OpenConnection, idleMs: number): void;
}

export interface ConnectionOptions extends DialOptions {
  /** DNS, TCP and TLS together. */
  readonly connectMs: number;
}

interface Kept {
  readonly connection: Connection;
  readonly idleUntilMs: number;
}

const LONGEST_LIFE_MS = 60_000;

/**
 * Connections that may serve another call. Their key contains the partner, so that what one partner sends is never read
 * as another's answer. A connection leads to the address that was checked when it was made; after a minute a new one is
 * made, so that a changed name takes effect.
 */
export class KeptConnections implements ConnectionSource {
  private readonly idle = new Map<string, Kept[]>();
  private readonly openedAtMs = new WeakMap<Connection, number>();

  /** @param nowMs only differences of its values are used */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * Sends over a kept connection, or over a new one. Where a kept connection is lost before any byte of the request was
   * given to it, nothing was sent yet, and the request goes over another connection.
   * @param signal of a Deadline
   * @param send keeps the connection where it may serve another call
   * @throws DialFault, and what `send` throws; the connection is destroyed then
   */
  async use<T>(
    to: Destination,
    signal: AbortSignal,
    send: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const connection = await this.connectionFor(to, signal);
      try {
        return await send(connection);
      } catch (error) {
        connection.destroy();
        const isUnsent = to.dialled.isKept === true && connection.hasNoBytesSent;
        if (!(error instanceof ExchangeFault && isUnsent)) throw error;
      }
    }
  }

  /** Takes the connection that was used last, which is the least likely to be closed. The caller owns it then. */
  async take(key: string): Promise<Connection | undefined> {
    for (let kept = this.pop(key); kept !== undefined; kept = this.pop(key)) {
      // The event loop gets a turn to report a close that has already arrived.
      await nextTurn();
      const { connection, idleUntilMs } = kept;
      if (connection.isOpen && this.nowMs() < idleUntilMs) return connection;
      connection.destroy();
    }
    return undefined;
  }

  /** Registers a new connection. */
  opened(key: string, connection: Connection): Connection {
    this.openedAtMs.set(connection, this.nowMs());
    connection.onClose(() => {
      this.remove(key, connection);
    });
    return connection;
  }

  /** Keeps a connection after a call with a whole and good answer. */
  keep(key: string, connection: Connection, idleMs: number): void {
    const nowMs = this.nowMs();
    const openedAtMs = this.openedAtMs.get(connection) ?? nowMs;
    const idleUntilMs = Math.min(nowMs + idleMs, openedAtMs + LONGEST_LIFE_MS);
    if (!connection.isOpen || idleUntilMs <= nowMs) {
      connection.destroy();
      return;
    }
    const kept = { connection, idleUntilMs };
    this.idle.set(key, [...(this.idle.get(key) ?? []), kept]);
  }

  private async connectionFor(
    { key, url, dialled }: Destination,
    signal: AbortSignal,
  ): Promise<Connection> {
    const kept = await this.take(key);
    dialled.isKept = kept !== undefined;
    if (kept !== undefined) {
      Object.assign(dialled, { phase: 'connect', remoteAddress: kept.remoteAddress });
      if (!signal.aborted) return kept;
      kept.destroy();
    }
    const connecting = callDeadline(this.options.connectMs, signal);
    try {
      const socket = await dial(url, this.options, connecting.signal, dialled);
      return this.opened(key, new Connection(socket, url.origin, dialled.remoteAddress));
    } finally {
      connecting.end();
    }
  }

  private pop(key: string): Kept | undefined {
    const kept = this.idle.get(key)?.at(-1);
    if (kept !== undefined) this.remove(key, kept.connection);
    return kept;
  }

  private remove(key: string, connection: Connection): void {
    const rest = this.idle.get(key)?.filter((one) => one.connection !== connection) ?? [];
    if (rest.length === 0) this.idle.delete(key);
    else this.idle.set(key, rest);
  }
}
