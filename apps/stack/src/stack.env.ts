import { IsInt } from 'class-validator';
import { Setting } from '#libs/config';

/** A setting of the services. The stack only looks at whether it is set; the services validate it. */
const ofServices = (description: string): PropertyDecorator =>
  Setting({ description, optional: true });
const secretOfServices = (description: string): PropertyDecorator =>
  Setting({ description, optional: true, secret: true });

function Port(description: string, port: string): PropertyDecorator {
  const decorators = [Setting({ description, default: port, min: 1, max: 65_535 }), IsInt()];
  return (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
}

/** Settings that decide which parts `npm start` starts. The services read their own settings from the environment. */
export class StackSettings {
  @secretOfServices('A PostgreSQL to use in place of the embedded one.')
  readonly databaseUrl?: string;

  @secretOfServices('A chain to index in place of the local one.')
  readonly rpcUrls?: string;

  @ofServices('Its chain id.')
  readonly chainId?: string;

  @ofServices('Its staking contract, or several.')
  readonly stakeContract?: string;

  @ofServices('The block its staking contract is in.')
  readonly stakeStartBlock?: string;

  @ofServices('Its staked token.')
  readonly tokenContract?: string;

  @ofServices('The vault that pays on that chain; without it nothing can be redeemed.')
  readonly vaultContract?: string;

  @secretOfServices('Signs vouchers for that vault.')
  readonly voucherSignerKey?: string;

  @secretOfServices('Where the token’s price comes from.')
  readonly priceSource?: string;

  @secretOfServices('Encrypts partner secrets.')
  readonly secretsKey?: string;

  @secretOfServices('Makes the MACs of the redemptions’ rows.')
  readonly evidenceKey?: string;

  @ofServices('Where browsers reach the web pages, if not at their port of this machine.')
  readonly consoleOrigin?: string;

  @Port('The port of the staking API.', '3000')
  readonly apiPort!: number;

  @Port('The port of health and metrics of the indexer.', '3001')
  readonly indexerPort!: number;

  @Port('The port of the redemption service.', '3002')
  readonly redemptionPort!: number;

  @Port('The port of the web pages.', '3003')
  readonly consolePort!: number;

  @Port('The port of the reference partner.', '4000')
  readonly partnerPort!: number;
}
