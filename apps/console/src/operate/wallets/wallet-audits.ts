import { Inject, Injectable } from '@nestjs/common';
import { type Address } from '#libs/domain';
import { auditWallet, tokensText } from '#libs/operations';
import { CLOCK, type Clock, type Logger, SingleFlight } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { AuditImpossibleError } from '#libs/verification';
import { ConsoleSettings } from '../../console.env.js';
import { notSet, problemOf } from '../chain-access.js';
import { StakeSets } from '../stake-sets.js';
import { type WalletAuditBody } from './wallets.dto.js';

/**
 * Compares the balance of one wallet with the contract. One comparison at a time, since each costs calls to the
 * provider; concurrent requests for the same wallet share one.
 */
@Injectable()
export class WalletAudits {
  private readonly running = new SingleFlight<WalletAuditBody, string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sets: StakeSets,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws HttpProblem 404, 409 where the comparison cannot be made, 503 */
  run(wallet: Address, stakeSet: string | undefined): Promise<WalletAuditBody> {
    return this.running.run(
      () => {
        const run = this.last.then(() => this.audit(wallet, stakeSet));
        this.last = run.catch(() => undefined);
        return run;
      },
      `${stakeSet ?? ''} ${wallet}`,
    );
  }

  private async audit(wallet: Address, stakeSet: string | undefined): Promise<WalletAuditBody> {
    const { rpcUrls, stakeEvents } = this.settings;
    if (rpcUrls === undefined) throw notSet();
    const database = await this.sets.open(stakeSet);
    const settings = { rpcUrls, ...(stakeEvents !== undefined && { stakeEvents }) };
    const { clock, logger } = this;
    try {
      const found = await auditWallet({ database, clock, settings, logger }, wallet);
      const { block, indexed, contract, state } = found;
      const { tokenDecimals, tokenSymbol } = state;
      return {
        block: block.number.toString(),
        blockAt: new Date(block.timestampSeconds * 1000),
        agrees: indexed === contract,
        indexed: tokensText({ tokenAmount: indexed, tokenDecimals }),
        contract: tokensText({ tokenAmount: contract, tokenDecimals }),
        tokenSymbol,
      };
    } catch (error) {
      if (error instanceof AuditImpossibleError) {
        throw new HttpProblem(409, error.message, { code: error.code });
      }
      throw problemOf(error);
    }
  }
}
