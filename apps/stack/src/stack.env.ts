import { IsInt, Max, Min } from 'class-validator';
import { Setting } from '#libs/config';

/**
 * What decides which parts `npm start` brings along. The services read their own settings from the same environment; here
 * matters only what is set, hence the loose form: their checks are theirs.
 */
export class StackSettings {
  @Setting({
    description: 'A PostgreSQL to use in place of the embedded one.',
    optional: true,
    secret: true,
  })
  readonly databaseUrl?: string;

  @Setting({
    description: 'A chain to index in place of the local one.',
    optional: true,
    secret: true,
  })
  readonly rpcUrls?: string;

  @Setting({ description: 'Its chain id.', optional: true })
  readonly chainId?: string;

  @Setting({ description: 'Its staking contract, or several.', optional: true })
  readonly stakeContract?: string;

  @Setting({ description: 'The block its staking contract is in.', optional: true })
  readonly stakeStartBlock?: string;

  @Setting({ description: 'Its staked token.', optional: true })
  readonly tokenContract?: string;

  @Setting({
    description: 'The vault that pays on that chain; without it nothing can be redeemed.',
    optional: true,
  })
  readonly vaultContract?: string;

  @Setting({
    description: 'Signs vouchers for that vault.',
    optional: true,
    secret: true,
  })
  readonly voucherSignerKey?: string;

  @Setting({ description: 'Encrypts partner secrets.', optional: true, secret: true })
  readonly secretsKey?: string;

  @Setting({
    description: 'Makes the MACs of the redemptions’ rows.',
    optional: true,
    secret: true,
  })
  readonly evidenceKey?: string;

  @Setting({
    description: 'Signs answers to callers without a key.',
    optional: true,
    secret: true,
  })
  readonly apiAnonSecret?: string;

  @Setting({ description: 'The port of the staking API.', default: '3000' })
  @IsInt()
  @Min(1)
  @Max(65_535)
  readonly apiPort!: number;

  @Setting({ description: 'The port of health and metrics of the indexer.', default: '3001' })
  @IsInt()
  @Min(1)
  @Max(65_535)
  readonly indexerPort!: number;

  @Setting({ description: 'The port of the redemption service.', default: '3002' })
  @IsInt()
  @Min(1)
  @Max(65_535)
  readonly redemptionPort!: number;

  @Setting({ description: 'The port of the reference partner.', default: '4000' })
  @IsInt()
  @Min(1)
  @Max(65_535)
  readonly partnerPort!: number;
}
