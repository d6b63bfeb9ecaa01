import { connectionOptions } from '../connection/connection-options.js';
import { databaseError, DatabaseUnavailableError } from '../connection/database.error.js';
import { CheckedClient, type CheckedConfig } from '../connection/checked-client.js';

export const HINT_CHANNEL = 'lowmark_redemption';

export interface HintListener {
  readonly onHint: () => void;
  readonly onLost: (error: Error) => void;
}

/**
 * Listens for hints (NOTIFY) that there may be work. A hint may be missed, so a worker also polls.
 * Uses a connection of its own. Where the connection is lost, `onLost` is called and `start` may be called again.
 */
export class RedemptionHints {
  private client: CheckedClient | undefined;
  private isStopped = false;
  private readonly config: CheckedConfig;

  /** @param options of a database that is not behind a pooler, because the session listens */
  constructor(options: { readonly url: string; readonly applicationName: string }) {
    this.config = connectionOptions(options);
  }

  /** Does nothing where it already listens or connects. */
  async start(listener: HintListener): Promise<void> {
    if (this.client !== undefined) return;
    try {
      await this.listen(listener);
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** For good. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const { client } = this;
    this.client = undefined;
    await client?.end();
  }

  private async listen(listener: HintListener): Promise<void> {
    if (this.isStopped) throw new DatabaseUnavailableError(new Error('the program stops'));
    const client = new CheckedClient(this.config);
    this.client = client;
    client.on('error', (error) => {
      this.lose(client, listener, error);
    });
    client.on('end', () => {
      this.lose(client, listener, new Error('the connection ended'));
    });
    client.on('notification', () => {
      listener.onHint();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${HINT_CHANNEL}`);
    } catch (error) {
      if (this.client === client) this.client = undefined;
      await client.end();
      throw error;
    }
  }

  private lose(client: CheckedClient, listener: HintListener, error: Error): void {
    if (this.client !== client) return;
    this.client = undefined;
    listener.onLost(error);
    void client.end();
  }
}
