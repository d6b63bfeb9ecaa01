/**
 * Makes a pool leave a server that does not answer, or takes no writes any more. A statement that hears nothing for a while is no proof: it
 * may take long. The proof is that the server does not let a new connection in either, twice in a row.
 */
import pg, { type ClientConfig } from 'pg';

const TICK_MS = 1000;
const SILENT_TICKS = 3;
const PROBE_MS = 2500;
const PROBES = 2;

/** What the watch needs of a `SupervisedClient`. */
export interface WatchedClient {
  /** For how many ticks a statement has heard nothing of the server. */
  silentTicks: number;
  /** What another connection to the same host is made with. */
  readonly ownConfig: ClientConfig;
  /** Called tick by tick. */
  countSilence(): void;
  isAt(host: URL): boolean;
  /** Ends the connection at once; statements under way fail with the error. */
  leave(error: Error): void;
  /** Connections to the same host are left with this one. */
  leaveHost(reason: string): void;
  once(event: 'end', listener: () => void): unknown;
}

export class ConnectionWatch {
  private readonly clients = new Set<WatchedClient>();
  private timer: NodeJS.Timeout | undefined;
  private isProbing = false;

  /** @param besides how else the database is reached, where the clients' own way goes through a pooler */
  constructor(private readonly besides?: ClientConfig) {}

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

  /** Once the statement that found it out has its error. */
  leaveSoon(host: URL, reason: string): void {
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
    const ways = [silent.ownConfig, ...(this.besides === undefined ? [] : [this.besides])];
    for (let left = PROBES; left > 0; left--) {
      const answers = await Promise.all(ways.map(isAnswered));
      if (!answers.includes(false)) {
        // Looked at again after as long: the statement takes long.
        silent.silentTicks = 0;
        return;
      }
      // It was heard of in the meantime.
      if (silent.silentTicks < SILENT_TICKS) return;
    }
    silent.leaveHost('the server does not answer');
  }
}

/** By a new connection. That it is refused is an answer too. */
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
