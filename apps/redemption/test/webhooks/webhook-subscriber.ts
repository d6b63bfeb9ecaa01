/**
 * A subscriber on a real socket, which verifies with the SDK, fails a third of the time, and remembers what it
 * accepted.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from '#libs/partner-sdk';
import { type Dice } from '../world/dice.js';

export class WebhookSubscriber {
  /** `webhook-id`s in the order of their first acceptance, by wallet. */
  readonly accepted = new Map<string, string[]>();
  /**
   * The statuses of each real redemption, in the order of their first acceptance. Events that only carry a number are
   * left out.
   */
  readonly changes = new Map<string, string[]>();
  readonly faults: string[] = [];
  requests = 0;
  failures = 0;
  /** Accepted events whose answer was lost, so that they are sent again. */
  unheard = 0;
  repeated = 0;
  isGone = false;
  private readonly seen = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly secret: () => string,
    private readonly dice: Dice,
  ) {}

  static async start(secret: () => string, dice: Dice): Promise<WebhookSubscriber> {
    const server = createServer();
    const subscriber = new WebhookSubscriber(server, secret, dice);
    server.on('request', (request, response) => {
      void subscriber.answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return subscriber;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hooks/`;
  }

  get count(): number {
    return this.seen.size;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    // A worker that is killed while sending leaves an incomplete body.
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const roll = this.dice.between(0, 29);
    if (roll < 10 || this.isGone) {
      this.failures += 1;
      if (roll < 8) response.writeHead(500).end('not now');
      else request.socket.destroy();
      return;
    }
    try {
      this.accept(verifyWebhook(request.headers, body, this.secret()));
    } catch (error) {
      this.faults.push(String(error));
    }
    if (roll === 10) {
      this.unheard += 1;
      request.socket.destroy();
    } else response.writeHead(204).end();
  }

  private accept({ id, data }: ReturnType<typeof verifyWebhook>): void {
    if (this.seen.has(id)) {
      this.repeated += 1;
      return;
    }
    this.seen.add(id);
    const wallet = 'walletAddress' in data ? data.walletAddress : '';
    const own = this.accepted.get(wallet);
    if (own === undefined) this.accepted.set(wallet, [id]);
    else own.push(id);
    if (!('redemptionId' in data) || !data.redemptionId.includes('-')) return;
    const { redemptionId, status } = data;
    this.changes.set(redemptionId, [...(this.changes.get(redemptionId) ?? []), status]);
  }
}
