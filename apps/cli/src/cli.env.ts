import { Min } from 'class-validator';
import {
  address,
  DatabaseSettings,
  finality,
  SECRETS_KEY_SETTING,
  Setting,
  urlList,
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
  @Setting({ description: 'The chain’s id; every endpoint must agree.', example: '2741' })
  @Min(1)
  readonly chainId!: number;

  @Setting({
    description: 'JSON-RPC endpoints separated by commas, the preferred one first.',
    secret: true,
    example: 'http://127.0.0.1:8545',
    parse: urlList('http', 'https'),
  })
  readonly rpcUrls!: string[];

  @Setting({
    description: 'Which blocks count as final: finalized, safe or depth:<blocks>.',
    default: 'finalized',
    parse: finality,
  })
  readonly finality!: string;

  @Setting({
    description: 'The staked token.',
    example: '0x1111111111111111111111111111111111111111',
    parse: address,
  })
  readonly tokenContract!: Address;
}
