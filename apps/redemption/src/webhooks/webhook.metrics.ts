import { type EventQueue, type QueueStanding } from '#libs/db';
import { type AttemptOutcome } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { Counter, Histogram, gaugesOfOneRead, type Registry } from '#libs/service';
import { type PumpObserver } from '../worker/engine.js';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * Figures of the webhooks over all processes, read from the database at each scrape, and the attempts of this process.
 */
export class WebhookMetrics implements PumpObserver {
  private readonly attempts: Counter;
  private readonly seconds: Histogram;
  private readonly failures: Counter;

  constructor(
    registry: Registry,
    events: EventQueue,
    private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'lowmark_webhook_attempts_total',
      help: 'Attempts to deliver an event, by how they ended',
      labelNames: ['outcome'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'lowmark_webhook_attempt_seconds',
      help: 'How long attempts took',
      buckets: SECONDS,
      registers,
    });
    this.failures = new Counter({
      name: 'lowmark_webhook_failures_total',
      help: 'Pieces of the work on webhooks that failed here, the database say; each is tried again',
      registers,
    });
    const add = gaugesOfOneRead(
      { registry, logger },
      () => events.standing(),
      'The standing of the webhooks could not be read',
    );
    const gauge = (name: string, help: string, figure: (of: QueueStanding) => number): void => {
      add({ name, help }, (standing, one) => {
        one.set(figure(standing));
      });
    };
    gauge(
      'lowmark_webhook_waiting',
      'Events not delivered yet, of webhooks that are not paused',
      (of) => of.waiting,
    );
    gauge(
      'lowmark_webhook_waiting_an_hour',
      'Those of them that are older than an hour; an alert belongs on it',
      (of) => of.waitingAnHour,
    );
    gauge(
      'lowmark_webhook_oldest_seconds',
      'The age of the oldest of them',
      (of) => of.oldestSeconds,
    );
    gauge(
      'lowmark_webhook_given_up',
      'Events of all webhooks that were given up in the last day',
      (of) => of.givenUp,
    );
  }

  attempted(outcome: AttemptOutcome['kind'], seconds: number): void {
    this.attempts.inc({ outcome });
    this.seconds.observe(seconds);
  }

  swept(): void {
    // No metric: the age of the oldest event shows whether events are looked for.
  }

  failed(_queue: string, error: unknown): void {
    this.failures.inc();
    this.logger.error({ err: error }, 'An event could not be worked at; it is tried again');
  }
}
