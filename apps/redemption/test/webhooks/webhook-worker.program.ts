/** The delivery of webhooks as the service runs it, in a process of its own that can be killed; it ends with its parent. */
import { createDatabase, EventQueue } from '#libs/db';
import { WebhookSender } from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { KeyRing } from '#libs/signing';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.js';
import { WebhookQueue } from '../../src/webhooks/webhook.queue.js';
import { type WorkerOrder, type WorkerWord } from '../world/worker-orders.js';

export interface WebhookWorkerSetup {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  readonly atOnce: number;
  readonly perSubscription: number;
  readonly leaseMs: number;
  readonly stepsMs: readonly number[];
}

function say(word: WorkerWord): void {
  process.send?.(word);
}

async function start(setup: WebhookWorkerSetup): Promise<void> {
  const { databaseUrl: url, secretsKey, stepsMs, ...options } = setup;
  const database = await createDatabase({ url, applicationName: 'webhooks', poolSize: 6 });
  const clock = systemClock;
  const sender = new WebhookSender({ clock, policy: { allowPrivate: true } });
  const queue = new WebhookQueue(new EventQueue(database), sender, KeyRing.parse(secretsKey), {
    ...{ ...options, clock, random: Math.random, schedule: { stepsMs } },
  });
  const delivery = new WebhookDelivery(queue, {
    swept: () => undefined,
    failed: (_queue, error) => {
      say({ kind: 'log', line: String(error) });
    },
  });
  setInterval(() => {
    delivery.wake();
  }, 100);
  delivery.wake();
  say({ kind: 'ready' });
}

process.on('message', (order: WorkerOrder<WebhookWorkerSetup>) => {
  if (order.kind === 'start') void start(order.setup);
});
process.on('disconnect', () => process.exit(0));
