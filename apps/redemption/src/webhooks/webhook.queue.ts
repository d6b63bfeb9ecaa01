/**
 * The events of webhooks as a queue of work: sends the oldest event of each leased lane once, and stores the result.
 * Where a process dies between the answer and its row, the next holder of the lease sends the event again: delivery is
 * at least once, under the same `webhook-id`.
 */
import { type DueEvent, type EventQueue, messageId } from '#libs/db';
import {
  attemptOutcome,
  type AttemptOutcome,
  LowmarkError,
  nextAttemptAtMs,
  type RetrySchedule,
} from '#libs/domain';
import { type WebhookAttempt, type WebhookSender } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { type KeyRing, webhookSealContext } from '#libs/signing';
import { type WorkQueue } from '../worker/engine.js';

export interface WebhookQueueOptions {
  readonly clock: Clock;
  /** Random number from 0 to 1, for the jitter of backoff. */
  readonly random: () => number;
  /** Events sent at the same time, which is also the most connections that are open. */
  readonly atOnce: number;
  /** Events of one subscription sent at the same time, by all processes together. */
  readonly perSubscription: number;
  /** Events of one partner sent at the same time, over all its subscriptions, by all processes together. */
  readonly perPartner: number;
  /** In milliseconds; longer than the longest attempt. */
  readonly leaseMs: number;
  readonly schedule: RetrySchedule;
  readonly onAttempt?: (outcome: AttemptOutcome['kind'], seconds: number) => void;
}

export class WebhookQueue implements WorkQueue<DueEvent> {
  readonly name = 'webhooks';
  /** After an event its lane may have another one, and its subscription room for one. */
  readonly feedsItself = true;
  readonly atOnce: number;
  private readonly stopping = new AbortController();

  constructor(
    private readonly events: EventQueue,
    private readonly sender: WebhookSender,
    private readonly keyRing: KeyRing,
    private readonly options: WebhookQueueOptions,
  ) {
    this.atOnce = options.atOnce;
  }

  lease(count: number, owner: string): Promise<DueEvent[]> {
    const { perSubscription, perPartner, leaseMs, clock } = this.options;
    const dueBy = new Date(clock.nowMs());
    return this.events.lease({ count, owner, leaseMs, dueBy, perSubscription, perPartner });
  }

  async work(due: readonly DueEvent[], owner: string): Promise<void> {
    for (const event of due) await this.attempt(event, owner);
  }

  stop(): void {
    this.stopping.abort();
  }

  private async attempt(event: DueEvent, owner: string): Promise<void> {
    const at = new Date(this.options.clock.nowMs());
    const attempt = await this.send(event);
    if (attempt.isStopped) {
      await this.events.release(event, owner);
      return;
    }
    const { status, error, durationMs, request, answer } = attempt;
    const outcome: AttemptOutcome =
      status === undefined ? { kind: 'failed' } : attemptOutcome(status, attempt.retryAfterSeconds);
    this.options.onAttempt?.(outcome.kind, durationMs / 1000);
    const record = { at, outcome: outcome.kind, status, error, durationMs, request, answer };
    await this.events.end({
      event,
      owner,
      record,
      nextAttemptAt: this.nextAttempt(event, outcome),
    });
  }

  private async send(event: DueEvent): Promise<WebhookAttempt> {
    const { id, subscription, url, payload } = event;
    try {
      const context = webhookSealContext(subscription);
      const secrets = event.secrets.map((sealed) => this.keyRing.open(sealed, context));
      const message = { id: messageId(id), subscription, url, payload, secrets };
      return await this.sender.send(message, this.stopping.signal);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      // Nothing can be signed until an operator sets the key. The attempt counts as failed, and its backoff goes on.
      const text = `not sent: ${error.code}`;
      return { error: text, isStopped: false, durationMs: 0, request: { headers: {} }, answer: {} };
    }
  }

  /** @returns undefined where the event is delivered or given up */
  private nextAttempt(event: DueEvent, outcome: AttemptOutcome): Date | undefined {
    if (outcome.kind === 'delivered') return undefined;
    const { clock, random, schedule } = this.options;
    const ms = nextAttemptAtMs(schedule, {
      attempts: event.attempts + 1,
      firstAttemptAtMs: event.waitingSince.getTime(),
      nowMs: clock.nowMs(),
      jitter: random(),
      ...(outcome.kind === 'failed' && { retryAfterSeconds: outcome.retryAfterSeconds }),
    });
    return ms === undefined ? undefined : new Date(ms);
  }
}
