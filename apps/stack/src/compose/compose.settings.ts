import { DatabaseSettings, databaseUrl, SecretsSettings, Setting, url } from '#libs/config';
import { LowmarkError } from '#libs/domain';

/** Settings of `chain.main`; see docker-compose.yml. */
export class ChainSettings {
  @Setting({ description: 'The local chain, which mines only when told to.', parse: url('http') })
  readonly localRpcUrl!: string;

  @Setting({ description: 'Where the state of the chain and local.env are kept.' })
  readonly localChainDirectory!: string;

  @Setting({ description: 'A file that is there while the chain can be used.' })
  readonly localReadyMark!: string;

  @Setting({ description: 'Where the redemption service is published.', parse: url('http') })
  readonly localServiceUrl!: string;

  @Setting({ description: 'Where the web pages are published.', parse: url('http') })
  readonly localPagesUrl!: string;

  @Setting({ description: 'Where the local chain is published.', parse: url('http') })
  readonly localPublishedRpcUrl!: string;

  @Setting({ description: 'Whose vouchers the vault pays.', secret: true })
  readonly voucherSignerKey!: string;
}

/** Settings of `game-database.main`; DATABASE_URL is the owner's. */
export class GameDatabaseSettings extends DatabaseSettings {
  @Setting({
    description: 'The database of the reference partner, and its user.',
    secret: true,
    parse: databaseUrl,
  })
  readonly gameDatabaseUrl!: string;
}

export class RegisterSettings extends SecretsSettings {
  @Setting({ description: 'Where the reference partner answers.', parse: url('http') })
  readonly localPartnerUrl!: string;

  @Setting({ description: 'The key that the reference partner expects.', secret: true })
  readonly partnerApiKey!: string;

  @Setting({ description: 'The secret shared with the reference partner.', secret: true })
  readonly partnerSharedSecret!: string;
}

export const REFERENCE_PARTNER = 'reference';

/** Prints the error, and makes the program end with exit code 1. */
export function endWithMessage(error: unknown): void {
  console.error(error instanceof LowmarkError ? error.message : error);
  process.exitCode = 1;
}
