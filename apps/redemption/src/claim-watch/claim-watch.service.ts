import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ClaimWatchStore, type WatchState } from '#libs/db';
import { inSpan, type Logger, SingleFlight } from '#libs/platform';
import { LOGGER, gaugesOfOneRead, Registry } from '#libs/service';
import { RedemptionSettings } from '../redemption.env.js';
import { ClaimWatch } from './claim-watch.js';

const EVERY_MS = 60_000;

/** Checks the claims every minute. Every process has the schedule, and one of them does the check. */
@Injectable()
export class ClaimWatchService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly checks = new SingleFlight<void>();

  constructor(
    private readonly watch: ClaimWatch,
    @Inject(LOGGER) private readonly logger: Logger,
    store: ClaimWatchStore,
    registry: Registry,
    { chainId }: RedemptionSettings,
  ) {
    gaugeClaimWatch(registry, store, chainId, logger);
  }

  onApplicationBootstrap(): void {
    void this.check();
  }

  /** Aborts the check under way; its findings so far are stored. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.checks.underWay();
  }

  /**
   * Never rejects, so that a failed check does not stop the redemptions; an alert watches the time of the last check.
   */
  @Interval('claim-watch', EVERY_MS)
  check(): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.resolve();
    return this.checks.run(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    const { watch, logger } = this;
    const { signal } = this.stopping;
    try {
      await inSpan({ name: 'claim watch' }, () => watch.check(signal));
    } catch (error) {
      if (signal.aborted) logger.info('Stopped watching claims');
      else logger.warn({ err: error }, 'The claims of the vault could not be watched');
    }
  }
}

/**
 * Adds gauges for the unauthorised claims and the time of the last check by any process, read from the database at each
 * scrape.
 */
export function gaugeClaimWatch(
  registry: Registry,
  store: ClaimWatchStore,
  chainId: number,
  logger: Logger,
): void {
  const add = gaugesOfOneRead(
    { registry, logger },
    () => store.state(chainId),
    'The state of the watch over claims could not be read',
  );
  const gauge = (name: string, help: string, figure: (state: WatchState) => number): void => {
    add({ name, help }, (state, one) => {
      one.set(figure(state));
    });
  };
  gauge(
    'lowmark_claims_unauthorised',
    'Claims that nothing had authorised and that no person has acknowledged; an alert belongs on anything above 0',
    ({ alarms }) => alarms,
  );
  gauge(
    'lowmark_claim_watch_timestamp_seconds',
    'When the claims of all vaults were last looked at; 0 where one of them never was',
    ({ lookedAtMs }) => lookedAtMs / 1000,
  );
}
