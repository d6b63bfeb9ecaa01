import { type RedemptionCounts, type RedemptionViews } from '#libs/db';
import { type Logger } from '#libs/platform';
import { Counter, Gauge, gaugesOfOneRead, type Registry } from '#libs/service';

/** Counts of this process' engine, and the state of the queues, read from the database at each scrape. */
export class EngineMetrics {
  private readonly transitions: Counter<'event' | 'from' | 'to'>;
  private readonly failures: Counter<'queue'>;
  private readonly swept: Gauge<'queue'>;

  constructor(registry: Registry, views: RedemptionViews, logger: Logger) {
    const registers = [registry];
    this.transitions = new Counter({
      name: 'lowmark_redemption_transitions_total',
      help: 'Transitions that this process wrote',
      labelNames: ['event', 'from', 'to'],
      registers,
    });
    this.failures = new Counter({
      name: 'lowmark_redemption_work_failures_total',
      help: 'Pieces of work that ended with an error and are tried again when their lease ends',
      labelNames: ['queue'],
      registers,
    });
    this.swept = new Gauge({
      name: 'lowmark_redemption_swept_timestamp_seconds',
      help: 'When this process last looked for due work, successfully',
      labelNames: ['queue'],
      registers,
    });
    gaugeQueues(
      gaugesOfOneRead(
        { registry, logger },
        () => views.counts(),
        'The figures of the queues could not be read',
      ),
    );
  }

  moved(event: string, from: string, to: string): void {
    this.transitions.inc({ event, from, to });
  }

  failed(queue: string): void {
    this.failures.inc({ queue });
  }

  sweptAt(queue: string, nowMs: number): void {
    this.swept.set({ queue }, nowMs / 1000);
    // Series begin at 0: an alert does not see a series that begins at 1 as an increase.
    this.failures.inc({ queue }, 0);
  }
}

function gaugeQueues(add: ReturnType<typeof gaugesOfOneRead<RedemptionCounts>>): void {
  const gauge = (
    name: string,
    help: string,
    fill: (counts: RedemptionCounts, gauge: Gauge) => void,
  ): void => {
    add({ name, help, labelNames: ['state'] }, fill);
  };
  gauge(
    'lowmark_redemptions',
    'Redemptions by state, of those that are not final',
    ({ states }, by) => {
      // The alert rule needs the series also while nothing is in this state.
      by.set({ state: 'attention' }, 0);
      for (const { state, count } of states) by.set({ state }, count);
    },
  );
  gauge(
    'lowmark_redemption_oldest_seconds',
    'How long the oldest redemption of a state that is not final has been in it',
    ({ states }, by) => {
      for (const { state, longestSeconds } of states) by.set({ state }, longestSeconds);
    },
  );
  gauge(
    'lowmark_redemptions_due',
    'Redemptions that are due and not being worked on',
    (counts, by) => {
      by.set(counts.due.count);
    },
  );
  gauge(
    'lowmark_redemptions_due_oldest_seconds',
    'How long the redemption that is due longest has waited for a worker',
    (counts, by) => {
      by.set(counts.due.oldestSeconds);
    },
  );
  gauge('lowmark_confirmations', 'Confirmations that partners have not taken', (counts, by) => {
    by.set({ state: 'pending' }, counts.confirmationsPending);
    by.set({ state: 'undelivered' }, counts.confirmationsUndelivered);
  });
}
