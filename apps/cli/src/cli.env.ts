import { DatabaseSettings, SECRETS_KEY_SETTING, Setting } from '#libs/config';

/** The settings of `migrate`. */
export class MigrateSettings extends DatabaseSettings {}

/** The settings of `partner create`. */
export class PartnerSettings extends DatabaseSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}
