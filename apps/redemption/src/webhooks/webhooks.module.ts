import { Module } from '@nestjs/common';
import { Database, EventQueue, WebhookSweep } from '#libs/db';
import { WEBHOOK_SCHEDULE } from '#libs/domain';
import { addressPolicy, WebhookSender } from '#libs/partner-client';
import { CLOCK, type Clock } from '#libs/platform';
import { LOGGER, provide, Registry } from '#libs/service';
import { KeyRing } from '#libs/signing';
import { RedemptionSettings } from '../redemption.env.js';
import { QueuePump } from '../worker/engine.js';
import { WebhookEvaluator } from './webhook-evaluator.js';
import { WebhookMetrics } from './webhook.metrics.js';
import { WebhookQueue } from './webhook.queue.js';
import { WebhooksService } from './webhooks.service.js';

/** In milliseconds: three times the longest attempt. */
const LEASE_MS = 45_000;
const PER_SUBSCRIPTION = 8;
/** Events that a process sends at once: slow receivers hold a connection for up to 15 seconds each. */
const AT_ONCE = 32;
/** Half of them: the webhooks of one partner leave room for those of others. */
const PER_PARTNER = 16;

/** Sends webhooks about sealed days and redemptions to their subscribers. */
@Module({
  providers: [
    WebhooksService,
    provide(EventQueue, Database),
    provide(WebhookSweep, Database),
    provide(WebhookMetrics, Registry, EventQueue, LOGGER),
    provide(WebhookEvaluator, Database),
    {
      provide: WebhookSender,
      inject: [CLOCK, RedemptionSettings],
      useFactory: (clock: Clock, { allowPrivatePartners, nodeEnv }: RedemptionSettings) => {
        const isProduction = nodeEnv === 'production';
        const policy = addressPolicy({ allowPrivate: allowPrivatePartners, isProduction });
        return new WebhookSender({ clock, policy });
      },
    },
    {
      provide: WebhookQueue,
      inject: [EventQueue, WebhookSender, KeyRing, CLOCK, WebhookMetrics],
      useFactory: (
        events: EventQueue,
        sender: WebhookSender,
        keyRing: KeyRing,
        clock: Clock,
        metrics: WebhookMetrics,
      ) =>
        new WebhookQueue(events, sender, keyRing, {
          ...{ clock, atOnce: AT_ONCE, random: Math.random },
          ...{ leaseMs: LEASE_MS, schedule: WEBHOOK_SCHEDULE },
          ...{ perSubscription: PER_SUBSCRIPTION, perPartner: PER_PARTNER },
          onAttempt: (outcome, seconds) => {
            metrics.attempted(outcome, seconds);
          },
        }),
    },
    provide(QueuePump, WebhookQueue, WebhookMetrics),
  ],
})
export class WebhooksModule {}
