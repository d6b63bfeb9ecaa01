import {
  CHAIN_ID_SETTING,
  CONSOLE_ORIGIN_SETTING,
  DatabaseSettings,
  EVIDENCE_KEY_SETTING,
  REGISTRY_ADDRESS_SETTING,
  registryOf,
  SECRETS_KEY_SETTING,
  Setting,
  type SetRegistry,
  STAKE_SET_SETTING,
  STAKE_SETS_SETTING,
} from '#libs/config';
import { type LoginUrls, type RegistryPlace } from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { OptionError } from '#libs/operations';
import { SERVICE_DATABASE_URLS_SETTING } from './service-database-urls.js';

/** The settings of `migrate`; its DATABASE_URL is the owner's. */
export class MigrateSettings extends DatabaseSettings {
  @Setting(STAKE_SETS_SETTING)
  readonly stakeSets?: string[];

  @Setting(SERVICE_DATABASE_URLS_SETTING)
  readonly serviceDatabaseUrls?: LoginUrls;
}

/** The settings of commands that neither encrypt nor decrypt a secret. */
export class OperatorSettings extends DatabaseSettings {}

/** The settings of commands that print links to the web pages. */
export class ConsoleLinkSettings extends DatabaseSettings {
  @Setting(CONSOLE_ORIGIN_SETTING)
  readonly consoleOrigin!: string;
}

/** The settings of commands on the tables of one stake set. */
export class StakeSetSettings extends DatabaseSettings {
  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;
}

/** The settings of the partner commands that encrypt or decrypt a secret. */
export class PartnerSettings extends DatabaseSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}

/** The settings of `redemption adopt`, which runs on the machine of the redemption service. */
export class AdoptSettings extends DatabaseSettings {
  @Setting(EVIDENCE_KEY_SETTING)
  readonly evidenceKey!: string;

  @Setting({ ...SECRETS_KEY_SETTING, optional: true })
  readonly secretsKey?: string;
}

/** The settings with which `redemption show` reads the chain; without them it reports that it cannot. */
export { EvidenceSettings } from '#libs/operations';

/** The settings of commands on the registry of a stake set. */
export class RegistrySettings extends StakeSetSettings {
  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting(REGISTRY_ADDRESS_SETTING)
  readonly registryAddress?: readonly SetRegistry[];
}

/** @throws OptionError if there is no registry, or none of the stake set */
export function placeOf({
  chainId,
  registryAddress,
  stakeSet,
}: Partial<RegistrySettings>): RegistryPlace {
  if (registryAddress === undefined) throw new OptionError('REGISTRY_ADDRESS must be set.');
  const registry = registryOf(registryAddress, stakeSet ?? DEFAULT_STAKE_SET);
  if (registry !== undefined && chainId !== undefined) return { chainId, registry };
  throw new OptionError(`REGISTRY_ADDRESS names no registry of the stake set ${stakeSet ?? ''}.`);
}
