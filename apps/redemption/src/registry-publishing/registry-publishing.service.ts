import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CLOCK, type Clock, inSpan, type Logger, SingleFlight } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { LowmarkError, PermanentError } from '#libs/domain';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { RegistryLink } from './registry-link.js';
import { RegistryPublisher } from './registry-publisher.js';
import { RegistryTerms } from './registry-terms.js';

/** Longest backoff after failures, in milliseconds. */
const LONGEST_WAIT_MS = 900_000;

/** Runs the polls of a process one after the other, since its stake sets share an account and its next nonce. */
export class RegistryTurns {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs the work once the work before it has ended, also where that failed. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** Polls the registry every `registryPollMs`. Every process has the schedule, and one of them does the poll. */
@Injectable()
export class RegistryPublishingService
  implements OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly looks = new SingleFlight<void>();
  private isStopping = false;
  private failures = 0;
  private nextMs = 0;

  constructor(
    private readonly terms: RegistryTerms,
    private readonly link: RegistryLink,
    private readonly publisher: RegistryPublisher,
    private readonly turns: RegistryTurns,
    private readonly scheduler: SchedulerRegistry,
    private readonly alerts: HourlyAlerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const timer = setInterval(() => void this.look(), this.terms.settings.registryPollMs);
    this.scheduler.addInterval(`registry-publishing ${this.terms.stakeSet}`, timer);
    void this.look();
  }

  /** Stops without loss: signed transactions are stored, and the next process continues from them. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.link.pool.stop();
    await this.looks.underWay();
  }

  /**
   * Never rejects, so that failed publishing does not stop the redemptions; an alert watches the age of waiting
   * publications.
   */
  look(): Promise<void> {
    if (this.isStopping || this.clock.nowMs() < this.nextMs) return Promise.resolve();
    return this.looks.run(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    try {
      await this.turns.take(() => this.lookInTurn());
      this.failures = 0;
    } catch (error) {
      if (!this.isStopping) this.failed(error);
    }
  }

  private async lookInTurn(): Promise<void> {
    if (this.isStopping) return;
    await inSpan({ name: 'registry publishing' }, () => this.publisher.look());
  }

  private failed(error: unknown): void {
    const waitMs = Math.min(
      LONGEST_WAIT_MS,
      this.terms.settings.registryPollMs * 2 ** this.failures,
    );
    this.failures++;
    this.nextMs = this.clock.nowMs() + waitMs;
    if (error instanceof PermanentError && error.code.startsWith('REGISTRY_')) {
      const detail = error.message;
      this.alerts.raise({ severity: 'warning', code: 'registry-misconfigured', detail });
    } else if (error instanceof LowmarkError) {
      this.logger.warn({ err: error }, 'Day roots could not be published');
    } else {
      this.logger.error({ err: error }, 'Publishing day roots failed');
    }
  }
}
