/**
 * Connections that may serve another call, by partner and origin: what one partner sends is never read as another's answer. A connection
 * leads to the address that was checked when it was made; after a minute another is made, so that a changed name is followed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connection } from './connection.js';

interface Kept {
  readonly connection: Connection;
  readonly idleUntilMs: number;
}

const LONGEST_LIFE_MS = 60_000;

export class KeptConnections {
  private readonly idle = new Map<string, Kept[]>();
  private readonly openedAtMs = new WeakMap<Connection, number>();

  /** @param nowMs only differences matter */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** The one that was used last, which has had the least time to be closed; it is the caller's then. */
  async take(key: string): Promise<Connection | undefined> {
    for (let kept = this.pop(key); kept !== undefined; kept = this.pop(key)) {
      // A close that has arrived is noticed in this turn.
      await nextTurn();
      const { connection, idleUntilMs } = kept;
      if (connection.isOpen && this.nowMs() < idleUntilMs) return connection;
      connection.destroy();
    }
    return undefined;
  }

  /** Of a connection that was just made. */
  opened(key: string, connection: Connection): Connection {
    this.openedAtMs.set(connection, this.nowMs());
    connection.onClose(() => {
      this.remove(key, connection);
    });
    return connection;
  }

  /** After a call that came to a whole and good answer. */
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
