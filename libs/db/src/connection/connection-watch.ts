/**
 * Makes a pool leave a server that hangs or does not take writes any more. A silent statement is no proof of a hung
 * server, because the statement may take long. The proof is that the server does not answer a new connection
 * either, twice in a row.
 */
import pg, { type ClientConfig } from 'pg';

const TICK_MS = 1000;
const SILENT_TICKS = 3;
const PROBE_MS = 2500;
const PROBES = 2;

/** The part of `SupervisedClient` that the watch uses. */
export interface WatchedClient {
  /** Number of ticks in a row in which a running statement received nothing from the server. */
  silentTicks: number;
  /** Configuration of a probe connection to the same host. */
  readonly ownConfig: ClientConfig;
  /** Updates `silentTicks`; called once per tick. */
  countSilence(): void;
  isAt(host: URL): boolean;
  /** Closes the connection at once. Running statements fail with the error. */
  leave(error: Error): void;
  /** Closes all connections of the pool to the same host, this one included. */
  closeAllToSameHost(reason: string): void;
  once(event: 'end', listener: () => void): unknown;
}

export class ConnectionWatch {
  private readonly clients = new Set<WatchedClient>();
  private timer: NodeJS.Timeout | undefined;
  private isProbing = false;

  /** @param directConfig a second connection, past the pooler that the clients use; it is probed too */
  constructor(private readonly directConfig?: ClientConfig) {}

  add(client: WatchedClient): void {
    this.clients.add(client);
    client.once('end', () => {
      this.clients.delete(client);
      if (this.clients.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    });
    this.timer ??= setInterval(() => {
      this.tick();
    }, TICK_MS).unref();
  }

  /**
   * Closes all connections to the host, but only after the statement that detected the failure received its own error.
   */
  closeConnectionsTo(host: URL, reason: string): void {
    setImmediate(() => {
      for (const client of this.clients) {
        if (client.isAt(host)) client.leave(new Error(`The connection was closed: ${reason}`));
      }
    });
  }

  private tick(): void {
    for (const client of this.clients) client.countSilence();
    const silent = [...this.clients].find(({ silentTicks }) => silentTicks >= SILENT_TICKS);
    if (silent === undefined || this.isProbing) return;
    this.isProbing = true;
    void this.leaveWhereHung(silent).finally(() => {
      this.isProbing = false;
    });
  }

  private async leaveWhereHung(silent: WatchedClient): Promise<void> {
    const ways = [
      silent.ownConfig,
      ...(this.directConfig === undefined ? [] : [this.directConfig]),
    ];
    for (let left = PROBES; left > 0; left--) {
      const answers = await Promise.all(ways.map(isAnswered));
      if (!answers.includes(false)) {
        // The server answers, so the statement takes long. The next probe follows after the same time of silence.
        silent.silentTicks = 0;
        return;
      }
      // The statement ended or received bytes in the meantime.
      if (silent.silentTicks < SILENT_TICKS) return;
    }
    silent.closeAllToSameHost('the server does not answer');
  }
}

/** Probes the server by a new connection. A refusal counts as an answer. */
async function isAnswered(config: ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return typeof error === 'object' && error !== null && 'severity' in error;
  } finally {
    client.end().catch(() => undefined);
  }
}
