/** Webhooks of partners: subscriptions, the queue of events, and the code that writes events. */
export { type AttemptRecord, type DueEvent } from './attempt-outcome-writer.js';
export { DayEvents } from './day-events.js';
export { EventQueue, messageId, type QueueStanding } from './event-queue.js';
export { ReplayStore, type ReplayWish } from './replay-store.js';
export {
  type PausedBecause,
  type SubscriptionTerms,
  TooManyWebhooksError,
  WebhookEventMissingError,
  WebhookMissingError,
  type WebhookSubscription,
} from './subscription.js';
export { SubscriptionStore } from './subscription-store.js';
export * from './webhook-log.js';
export { WebhookSweep } from './webhook-sweep.js';
