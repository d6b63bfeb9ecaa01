import { Min } from 'class-validator';
import {
  CHAIN_ID_SETTING,
  DatabaseSettings,
  FINALITY_SETTING,
  RPC_URLS_SETTING,
  SECRETS_KEY_SETTING,
  Setting,
  TOKEN_CONTRACT_SETTING,
} from '#libs/config';
import { type Address } from '#libs/domain';

/** The settings of `migrate`. */
export class MigrateSettings extends DatabaseSettings {}

/** The settings of commands that seal and open no secret. */
export class OperatorSettings extends DatabaseSettings {}

/** The settings of the partner commands that seal or open a secret. */
export class PartnerSettings extends DatabaseSettings {
  @Setting(SECRETS_KEY_SETTING)
  readonly secretsKey!: string;
}

/** What `redemption show` asks the chain with; without them it says so. */
export class EvidenceSettings {
  @Setting(CHAIN_ID_SETTING)
  @Min(1)
  readonly chainId!: number;

  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting(FINALITY_SETTING)
  readonly finality!: string;

  @Setting(TOKEN_CONTRACT_SETTING)
  readonly tokenContract!: Address;
}
