import { Inject, Injectable } from '@nestjs/common';
import { RegistryAccount, RegistryReader, type RpcPool } from '#libs/chain';
import { CLOCK, type Clock } from '#libs/platform';
import { ChainLink } from '../chain/chain-link.js';
import { RegistryTerms } from './registry-terms.js';

/** The registry, and the account that publishes there, by endpoints of their own: what they wait for keeps no payout waiting. */
@Injectable()
export class RegistryLink {
  readonly pool: RpcPool;
  readonly reader: RegistryReader;
  readonly account: RegistryAccount;

  constructor(
    { place, privateKey, settings }: RegistryTerms,
    chain: ChainLink,
    @Inject(CLOCK) clock: Clock,
  ) {
    const { chainId, registry } = place;
    const { registryMaxFeeGwei: maxGasPrice, registryMaxGas, finality } = settings;
    const caps = { maxGasPrice, maxGas: BigInt(registryMaxGas) };
    this.pool = chain.registryPool;
    this.reader = new RegistryReader(this.pool, { registry, finality, clock });
    this.account = new RegistryAccount({
      ...{ pool: this.pool, chainId, registry, privateKey, caps },
    });
  }
}
