import { type Database, EventQueue } from '#libs/db';
import { WebhookSender } from '#libs/partner-client';
import { type Logger, systemClock as clock } from '#libs/platform';
import { KeyRing } from '#libs/signing';
import { WebhookQueue } from '../../src/webhooks/webhook.queue.js';
import { QueuePump } from '../../src/worker/engine.js';
import { type WebhookTerms } from '../world/worker-orders.js';

const LOOK_EVERY_MS = 100;

/** Delivers webhooks as the service does. */
export function deliverWebhooks(
  database: Database,
  secretsKey: string,
  { stepsMs, ...terms }: WebhookTerms,
  logger: Logger,
): void {
  const sender = new WebhookSender({ clock, policy: { allowPrivate: true } });
  const queue = new WebhookQueue(new EventQueue(database), sender, KeyRing.parse(secretsKey), {
    ...{ ...terms, clock, random: Math.random, schedule: { stepsMs } },
  });
  const delivery = new QueuePump(queue, {
    swept: () => undefined,
    failed: (_queue, error) => {
      logger.warn({ err: error }, 'Webhooks were not sent');
    },
  });
  setInterval(() => {
    delivery.wake();
  }, LOOK_EVERY_MS);
  delivery.wake();
}
