import {
  databaseUrl,
  DatabaseSettings,
  RPC_URLS_SETTING,
  Setting,
  sessionUrl,
  TOKEN_CONTRACT_SETTING,
} from '#libs/config';
import { type IndexSettings, type LoginUrls } from '#libs/db';
import { type Address, PermanentError } from '#libs/domain';
import { givenSettings, StakingSettings } from '#libs/operations';
import { DatabaseUrl } from '#libs/platform';
import { SERVICE_DATABASE_URLS_SETTING } from '../service-database-urls.js';

/** The settings of the commands `index …`: DATABASE_URL is the owner's, the others are those of the indexer. */
export class IndexCommandSettings extends StakingSettings {
  @Setting({
    description: 'PostgreSQL, as the owner of the schema.',
    secret: true,
    parse: databaseUrl,
  })
  override readonly databaseUrl: DatabaseSettings['databaseUrl'] = '';

  @Setting(SERVICE_DATABASE_URLS_SETTING)
  readonly serviceDatabaseUrls?: LoginUrls;

  @Setting(RPC_URLS_SETTING)
  override readonly rpcUrls: string[] = [];

  @Setting({ ...TOKEN_CONTRACT_SETTING, optional: true })
  readonly tokenContract?: Address;
}

/** The URL of the indexer's database user, for sessions; the owner's if it has no user of its own. */
export function indexerUrl(settings: IndexCommandSettings): string {
  const owner = sessionUrl(settings);
  const url = settings.serviceDatabaseUrls?.indexer;
  if (url === undefined) return owner;
  const { user, password } = DatabaseUrl.parse(url);
  return DatabaseUrl.parse(owner).as({ user, password }).href;
}

/** The settings of a new index. @throws PermanentError where one of them is not set */
export async function newIndexSettings(settings: IndexCommandSettings): Promise<IndexSettings> {
  const { stakeContract, stakeStartBlock, stakeEvents } = settings;
  const given = await givenSettings({
    chainId: settings.chainId,
    stakeContract,
    // The indexer reads block 0 as the block before the first one.
    stakeStartBlock: stakeStartBlock === 0n ? 1n : stakeStartBlock,
    stakeEvents,
    tokenContract: settings.tokenContract,
  });
  const { chainId, stakeContracts, tokenContract, startBlock, events } = given;
  if (
    chainId === undefined ||
    stakeContracts === undefined ||
    tokenContract === undefined ||
    startBlock === undefined
  ) {
    throw new PermanentError(
      'SETTING_MISSING',
      'A new index is made with the settings of the indexer: set CHAIN_ID, STAKE_CONTRACT, STAKE_START_BLOCK and TOKEN_CONTRACT.',
    );
  }
  return { chainId, stakeContracts, tokenContract, startBlock, events };
}
