import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '#libs/testing/clock';

export interface SentAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * A receiver of Alertmanager's notifications, such as an operator's pager or a dead man's switch. It stores the alerts.
 */
export class WebhookReceiver {
  readonly alerts: SentAlert[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        receiver.alerts.push(...(JSON.parse(body) as { alerts: SentAlert[] }).alerts);
        response.end();
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return receiver;
  }

  /** The URL, which is a secret because of its path. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/a-secret-path`;
  }

  /** Waits for an alert with this name and status. */
  async received(name: string, status: SentAlert['status'], withinMs = 60_000): Promise<SentAlert> {
    const find = () =>
      this.alerts.find((one) => one.labels['alertname'] === name && one.status === status);
    await eventually(() => find() !== undefined, withinMs);
    const alert = find();
    if (alert === undefined) throw new Error(`${name} is gone again`);
    return alert;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
