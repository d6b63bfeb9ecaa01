import {
  CONSOLE_ORIGIN_SETTING,
  DatabaseSettings,
  EVIDENCE_KEY_SETTING,
  SECRETS_KEY_SETTING,
  Setting,
  STAKE_SET_SETTING,
  STAKE_SETS_SETTING,
} from '#libs/config';
import { type LoginUrls } from '#libs/db';
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
