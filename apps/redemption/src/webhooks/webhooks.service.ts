import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type DueEvent, WebhookSweep } from '#libs/db';
import { inSpan, type Logger, SingleFlight } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { QueuePump } from '../worker/engine.js';
import { WebhookEvaluator } from './webhook-evaluator.js';

const DELIVER_MS = 1_000;
const EVALUATE_MS = 5_000;
const SWEEP_MS = 600_000;
/**
 * Events that were delivered or given up, and those that wait while a webhook is paused: a month, in which a partner asks
 * what became of one.
 */
const KEPT_DAYS = 30;

/** Writes, sends and deletes events. Every process does so; leases of rows and locks keep them apart. */
@Injectable()
export class WebhooksService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly evaluations = new SingleFlight<void>();
  private readonly sweeps = new SingleFlight<void>();

  constructor(
    private readonly delivery: QueuePump<DueEvent>,
    private readonly evaluator: WebhookEvaluator,
    private readonly sweepStore: WebhookSweep,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.delivery.wake();
    void this.evaluate();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.delivery.stop();
    await this.evaluations.underWay();
    await this.sweeps.underWay();
  }

  @Interval('webhook-delivery', DELIVER_MS)
  deliver(): void {
    if (!this.stopping.signal.aborted) this.delivery.wake();
  }

  @Interval('webhook-evaluation', EVALUATE_MS)
  evaluate(): Promise<void> {
    const { signal } = this.stopping;
    return this.attempt('webhook evaluation', this.evaluations, () => this.evaluator.run(signal));
  }

  @Interval('webhook-sweep', SWEEP_MS)
  sweep(): Promise<void> {
    const { signal } = this.stopping;
    return this.attempt('webhook sweep', this.sweeps, async () => {
      await this.sweepStore.run(KEPT_DAYS, signal);
    });
  }

  /** Never rejects: failed work is tried again at the next interval. */
  private async attempt(
    name: string,
    flight: SingleFlight<void>,
    work: () => Promise<void>,
  ): Promise<void> {
    if (this.stopping.signal.aborted) return;
    try {
      await flight.run(() => inSpan({ name }, work));
    } catch (error) {
      this.logger.warn({ err: error }, `The ${name} failed; it is tried again`);
    }
  }
}
