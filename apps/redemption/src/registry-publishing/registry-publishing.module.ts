import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import {
  CoinStore,
  Database,
  IndexReader,
  PublicationStore,
  PublicationViews,
  PublishableDays,
  StakeSetStore,
} from '#libs/db';
import { provide } from '#libs/service';
import { type RedemptionSettings } from '../redemption.env.js';
import { GasBudget } from '../chain/gas-budget.js';
import { PublicationSender } from './publication-sender.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { RegistryCheck, RegistryLink } from './registry-link.js';
import { PUBLISHED_SETS, type PublishedSet, RegistryGauges } from './registry.gauges.js';
import { RegistryPublisher } from './registry-publisher.js';
import { RegistryPublishingService, RegistryTurns } from './registry-publishing.service.js';
import { RegistryTerms } from './registry-terms.js';

/** Injection token of the Database of the stake set that is published. */
const STAKES = Symbol('Stakes');

const OF_A_SET: readonly Provider[] = [
  GasBudget,
  PublicationSender,
  HourlyAlerts,
  RegistryCheck,
  RegistryLink,
  RegistryPublisher,
  RegistryPublishingService,
  {
    provide: STAKES,
    inject: [Database, RegistryTerms],
    useFactory: (database: Database, { stakeSet }: RegistryTerms) =>
      new StakeSetStore(database).open(stakeSet),
  },
  provide(CoinStore, Database),
  provide(IndexReader, STAKES),
  provide(PublishableDays, STAKES),
  {
    provide: PublicationStore,
    inject: [Database, RegistryTerms],
    useFactory: (database: Database, { place }: RegistryTerms) =>
      new PublicationStore(database, place),
  },
  {
    provide: PublicationViews,
    inject: [STAKES, RegistryTerms],
    useFactory: (stakes: Database, { place }: RegistryTerms) => new PublicationViews(stakes, place),
  },
];

@Module({})
class SetPublishingModule {
  static register(terms: RegistryTerms, turns: RegistryTurns): DynamicModule {
    const given = [
      { provide: RegistryTerms, useValue: terms },
      { provide: RegistryTurns, useValue: turns },
    ];
    const providers = [...OF_A_SET, ...given];
    return { module: SetPublishingModule, providers };
  }
}

/** Publishes the roots of sealed days in SnapshotRegistries; empty where REGISTRY_ADDRESS is not set. */
@Module({})
export class RegistryPublishingModule {
  /** @throws PermanentError REGISTRY_SETTINGS_INCOMPLETE, REGISTRY_KEY_SHARED */
  static register(settings: RedemptionSettings): DynamicModule {
    const all = RegistryTerms.of(settings);
    if (all.length === 0) return { module: RegistryPublishingModule };
    const sets: Provider = {
      provide: PUBLISHED_SETS,
      inject: [Database],
      useFactory: (database: Database) =>
        Promise.all(all.map((terms) => publishedSet(database, terms))),
    };
    const turns = new RegistryTurns();
    const imports = all.map((terms) => SetPublishingModule.register(terms, turns));
    return { module: RegistryPublishingModule, imports, providers: [sets, RegistryGauges] };
  }
}

async function publishedSet(database: Database, terms: RegistryTerms): Promise<PublishedSet> {
  const stakes = await new StakeSetStore(database).open(terms.stakeSet);
  return { terms, views: new PublicationViews(stakes, terms.place) };
}
