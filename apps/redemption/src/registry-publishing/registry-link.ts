import { Inject, Injectable } from '@nestjs/common';
import {
  isRegistryOf,
  readRegistryFacts,
  RegistryAccount,
  registryFaults,
  RegistryReader,
  type RpcPool,
  stakedInText,
} from '#libs/chain';
import { IndexReader, stakeContractsOf } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { ChainLink } from '../chain/chain-link.js';
import { GasBudget } from '../chain/gas-budget.js';
import { RegistryTerms } from './registry-terms.js';

/**
 * The registry, and the account that publishes there. Both have an RPC pool of their own, so that payouts never wait
 * for them.
 */
@Injectable()
export class RegistryLink {
  readonly pool: RpcPool;
  readonly reader: RegistryReader;
  readonly account: RegistryAccount;

  constructor(
    { place, privateKey, settings: { finality } }: RegistryTerms,
    chain: ChainLink,
    { maxWei }: GasBudget,
    @Inject(CLOCK) clock: Clock,
  ) {
    const { chainId, registry } = place;
    this.pool = chain.registryPool;
    this.reader = new RegistryReader(this.pool, { registry, finality, clock });
    this.account = new RegistryAccount({
      ...{ pool: this.pool, chainId, registry, privateKey, maxWei },
    });
  }
}

/**
 * Checks that the registry is that of this stake set, and that the key may publish there: what is published can never
 * be changed.
 */
@Injectable()
export class RegistryCheck {
  private isVerified = false;

  constructor(
    private readonly terms: RegistryTerms,
    private readonly link: RegistryLink,
    private readonly index: IndexReader,
  ) {}

  /**
   * Checks until the first success, and then no more.
   * @throws PermanentError REGISTRY_MISCONFIGURED that says what to do; AllEndpointsFailedError
   */
  async requireVerified(): Promise<void> {
    if (this.isVerified) return;
    await this.verify();
    this.isVerified = true;
  }

  /** Checks again, as after a refusal of the contract: the role may have been revoked. */
  async verify(): Promise<void> {
    const { chainId, registry } = this.terms.place;
    const question = { registry, publisher: this.link.account.address };
    const facts = await readRegistryFacts(this.link.pool, question);
    const [fault] = registryFaults(facts, { ...question, chainId });
    if (fault !== undefined) throw misconfigured(fault);
    const state = await this.index.state();
    if (state === undefined) throw misconfigured('STAKE_SET: the stake set has no index yet.');
    const contracts = stakeContractsOf(state);
    if (isRegistryOf(facts.stakedIn ?? '', state.chainId, contracts)) return;
    const [its, ours] = [facts.stakedIn ?? '', stakedInText(state.chainId, contracts)];
    throw misconfigured(
      `REGISTRY_ADDRESS: ${registry} is of the contracts ${its.slice(0, 500)}, and the stake set ${this.terms.stakeSet} of ${ours}. Correct REGISTRY_ADDRESS or STAKE_SET; contracts/deploy-registry.mjs makes a registry.`,
    );
  }
}

function misconfigured(message: string): PermanentError {
  return new PermanentError('REGISTRY_MISCONFIGURED', message);
}
