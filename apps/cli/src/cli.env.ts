import {
  CONSOLE_ORIGIN_SETTING,
  DatabaseSettings,
  databaseUrl,
  EVIDENCE_KEY_SETTING,
  PORTAL_DATABASE_URL_SETTING,
  SECRETS_KEY_SETTING,
  Setting,
  type SettingOptions,
  STAKE_SET_SETTING,
  STAKE_SETS_SETTING,
} from '#libs/config';

function loginUrl(program: string): SettingOptions {
  return {
    description: `For \`migrate\`: the DATABASE_URL of the ${program}. Its user is made where it is missing and gets the password and the rights of the ${program}, and no more. Unset: left as it is.`,
    secret: true,
    optional: true,
    parse: databaseUrl,
  };
}

/** The settings of `migrate`: DATABASE_URL is the owner's here. */
export class MigrateSettings extends DatabaseSettings {
  @Setting(STAKE_SETS_SETTING)
  readonly stakeSets?: string[];

  @Setting(loginUrl('api'))
  readonly apiDatabaseUrl?: string;

  @Setting(loginUrl('indexer'))
  readonly indexerDatabaseUrl?: string;

  @Setting(loginUrl('redemption service'))
  readonly redemptionDatabaseUrl?: string;

  @Setting(loginUrl('cli'))
  readonly cliDatabaseUrl?: string;

  @Setting(loginUrl('console'))
  readonly consoleDatabaseUrl?: string;

  @Setting(PORTAL_DATABASE_URL_SETTING)
  readonly portalDatabaseUrl?: string;
}

/** The settings of commands that seal and open no secret. */
export class OperatorSettings extends DatabaseSettings {}

/** The settings of commands that print links to the web pages. */
export class ConsoleLinkSettings extends DatabaseSettings {
  @Setting(CONSOLE_ORIGIN_SETTING)
  readonly consoleOrigin!: string;
}

/** The settings of commands on what a stake set has for itself. */
export class StakeSetSettings extends DatabaseSettings {
  @Setting(STAKE_SET_SETTING)
  readonly stakeSet!: string;
}

/** The settings of the partner commands that seal or open a secret. */
export class PartnerSettings extends DatabaseSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}

/** The settings of `redemption adopt`, which runs where the redemption service does. */
export class AdoptSettings extends DatabaseSettings {
  @Setting(EVIDENCE_KEY_SETTING)
  readonly evidenceKey!: string;

  @Setting({ ...SECRETS_KEY_SETTING, optional: true })
  readonly secretsKey?: string;
}

/** What `redemption show` asks the chain with; without them it says so. */
export { EvidenceSettings } from '#libs/operations';
