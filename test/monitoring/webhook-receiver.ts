import { type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '#libs/testing/clock';
import { LoopbackServer } from '../../libs/testing/src/wire/loopback-server.js';

export interface SentAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * A receiver of Alertmanager's notifications, such as an operator's pager or a dead man's switch. It stores the alerts.
 */
export class WebhookReceiver extends LoopbackServer {
  readonly alerts: SentAlert[] = [];

  static start(): Promise<WebhookReceiver> {
    return new WebhookReceiver().listen();
  }

  /** The URL, which is a secret because of its path. */
  override get url(): string {
    return `${super.url}/a-secret-path`;
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

  stop(): Promise<void> {
    return this.close();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { alerts } = JSON.parse(await text(request)) as { alerts: SentAlert[] };
    this.alerts.push(...alerts);
    response.end();
  }
}
