import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { addressOfKey, readRegistryFacts } from '#libs/chain';
import { type PublicationViews } from '#libs/db';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { Gauge, LOGGER, gaugesOfOneRead, Registry } from '#libs/service';
import { ChainLink } from '../chain/chain-link.js';
import { type RegistryTerms } from './registry-terms.js';

const INTERVAL_MS = 300_000;
const WEI = 1e18;

/** Injection token of the stake sets with a registry, one at least. */
export const PUBLISHED_SETS = Symbol('PublishedSets');
export interface PublishedSet {
  readonly terms: RegistryTerms;
  readonly views: PublicationViews;
}

/** The state of publishing by all processes, and how many publications the account can pay for. */
@Injectable()
export class RegistryGauges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly coin: Gauge;
  private readonly publications: Gauge;
  private readonly readings = new SingleFlight<void>();
  private isSilent = false;
  private isStopping = false;

  constructor(
    @Inject(PUBLISHED_SETS) private readonly sets: readonly PublishedSet[],
    private readonly chain: ChainLink,
    registry: Registry,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    // A gauge without labels begins as 0, which would look like an empty account until the first answer.
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
    gaugePublications({ registry, sets, clock, logger });
  }

  onApplicationBootstrap(): void {
    void this.refresh();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.chain.registryPool.stop();
    await this.readings.underWay();
  }

  @Interval('registry-gauges', INTERVAL_MS)
  refresh(): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    return this.readings.run(() => this.readAccount());
  }

  /** Never rejects; where the account cannot be read, the gauges have no value. */
  private async readAccount(): Promise<void> {
    const [first] = this.sets;
    if (first === undefined) return;
    const { place, privateKey } = first.terms;
    try {
      const question = { registry: place.registry, publisher: addressOfKey(privateKey) };
      const { coin, publications } = await readRegistryFacts(this.chain.registryPool, question);
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
  readonly sets: readonly PublishedSet[];
  readonly clock: Clock;
  readonly logger: Logger;
}

function gaugePublications({ registry, sets, clock, logger }: PublicationGauges): void {
  const gauge = gaugesOfOneRead(
    { registry, logger },
    () =>
      Promise.all(
        sets.map(async ({ terms, views }) => ({
          stake_set: terms.stakeSet,
          summary: await views.summary(),
        })),
      ),
    'The publications could not be read',
  );
  gauge(
    {
      name: 'lowmark_registry_publications',
      help: 'Publications by state; different: the registry holds another root; revised: sealed again after it was published; an alert belongs on these two',
      labelNames: ['state', 'stake_set'],
    },
    (found, one) => {
      for (const { stake_set, summary } of found) {
        const { waiting, mined, final, different, revised } = summary;
        const counts = { waiting, mined, final, different, revised };
        for (const [state, count] of Object.entries(counts)) one.set({ state, stake_set }, count);
      }
    },
  );
  gauge(
    {
      name: 'lowmark_registry_waiting_seconds',
      help: 'How long the oldest publication that no final block holds has been due; 0 where there is none',
      labelNames: ['stake_set'],
    },
    (found, one) => {
      for (const { stake_set, summary } of found) {
        const sinceMs = summary.waitingSince?.getTime() ?? clock.nowMs();
        one.set({ stake_set }, Math.max(0, (clock.nowMs() - sinceMs) / 1000));
      }
    },
  );
}
