import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { readRegistryFacts } from '#libs/chain';
import { PublicationViews } from '#libs/db';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { Gauge, LOGGER, Registry } from '#libs/service';
import { readingGauges } from '../observe/reading-gauges.js';
import { RegistryLink } from './registry-link.js';
import { RegistryTerms } from './registry-terms.js';

const INTERVAL_MS = 300_000;
/** Of a chain's coin. */
const WEI = 1e18;

/** How publishing gets on, whichever process does it, and for how long its account can pay. */
@Injectable()
export class RegistryGauges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly coin: Gauge;
  private readonly publications: Gauge;
  private readonly readings = new SingleFlight<void>();
  private isSilent = false;
  private isStopping = false;

  constructor(
    private readonly terms: RegistryTerms,
    private readonly link: RegistryLink,
    registry: Registry,
    views: PublicationViews,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    // Without a label a gauge begins as 0, which would look like an empty account until the first answer.
    const gauge = (name: string, help: string): Gauge => {
      const one = new Gauge({ name, help, registers: [registry] });
      one.remove();
      return one;
    };
    this.coin = gauge(
      'lowmark_registry_coin',
      "What the publisher's account has of the chain's coin",
    );
    this.publications = gauge(
      'lowmark_registry_publications_payable',
      "How many publications the publisher's account can pay for at the price of now",
    );
    gaugePublications({ registry, views, clock, logger });
  }

  onApplicationBootstrap(): void {
    void this.refresh();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.link.pool.stop();
    await this.readings.underWay();
  }

  @Interval('registry-gauges', INTERVAL_MS)
  refresh(): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    return this.readings.run(() => this.readAccount());
  }

  /** Never rejects; where it cannot be read, the gauges are empty. */
  private async readAccount(): Promise<void> {
    const { registry } = this.terms.place;
    try {
      const question = { registry, publisher: this.link.account.address };
      const { coin, publications } = await readRegistryFacts(this.link.pool, question);
      if (coin === undefined) this.coin.remove();
      else this.coin.set(Number(coin) / WEI);
      if (publications === undefined) this.publications.remove();
      else this.publications.set(Number(publications));
      this.isSilent = false;
    } catch (error) {
      for (const one of [this.coin, this.publications]) one.remove();
      if (!this.isSilent && !this.isStopping) {
        this.logger.warn({ err: error }, "The publisher's account cannot be read");
      }
      this.isSilent = true;
    }
  }
}

interface PublicationGauges {
  readonly registry: Registry;
  readonly views: PublicationViews;
  readonly clock: Clock;
  readonly logger: Logger;
}

function gaugePublications({ registry, views, clock, logger }: PublicationGauges): void {
  const gauge = readingGauges(
    { registry, logger },
    () => views.summary(),
    'The publications could not be read',
  );
  gauge(
    {
      name: 'lowmark_registry_publications',
      help: 'Publications by state; different: the registry holds another root; revised: sealed anew after it was published; an alert belongs on these two',
      labelNames: ['state'],
    },
    ({ waiting, mined, final, different, revised }, one) => {
      for (const [state, count] of Object.entries({ waiting, mined, final, different, revised })) {
        one.set({ state }, count);
      }
    },
  );
  gauge(
    {
      name: 'lowmark_registry_waiting_seconds',
      help: 'How long the oldest publication that is in no block has been due; 0 where there is none',
    },
    ({ waitingSince }, one) => {
      one.set(waitingSince ? Math.max(0, (clock.nowMs() - waitingSince.getTime()) / 1000) : 0);
    },
  );
}
