import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import {
  CoinStore,
  Database,
  IndexReader,
  PublicationStore,
  PublicationViews,
  PublishableDays,
} from '#libs/db';
import { provide } from '#libs/service';
import { STAKES } from '../connections.module.js';
import { type RedemptionSettings } from '../redemption.env.js';
import { PublicationSender } from './publication-sender.js';
import { RegistryAlerts } from './registry-alerts.js';
import { RegistryCheck } from './registry-check.js';
import { RegistryGauges } from './registry.gauges.js';
import { RegistryLink } from './registry-link.js';
import { RegistryPublisher } from './registry-publisher.js';
import { RegistryPublishingService } from './registry-publishing.service.js';
import { RegistryTerms } from './registry-terms.js';

const PROVIDERS: readonly Provider[] = [
  PublicationSender,
  RegistryAlerts,
  RegistryCheck,
  RegistryGauges,
  RegistryLink,
  RegistryPublisher,
  RegistryPublishingService,
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

/** Publishes the roots of sealed days in a SnapshotRegistry; empty where REGISTRY_ADDRESS is not set. */
@Module({})
export class RegistryPublishingModule {
  /** @throws PermanentError REGISTRY_SETTINGS_INCOMPLETE, REGISTRY_KEY_SHARED */
  static register(settings: RedemptionSettings): DynamicModule {
    const terms = RegistryTerms.of(settings);
    const providers =
      terms === undefined ? [] : [...PROVIDERS, { provide: RegistryTerms, useValue: terms }];
    return { module: RegistryPublishingModule, providers };
  }
}
