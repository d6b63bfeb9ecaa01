import { Inject, Injectable } from '@nestjs/common';
import { formatCoin, GasRefusedError } from '#libs/chain';
import { CoinStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { RedemptionSettings } from '../redemption.env.js';

/** The coin that each account of the service may spend on gas on a UTC day, all processes together. */
@Injectable()
export class GasBudget {
  /**
   * The most that one transaction may cost, its gas times its price of gas: half of a day, so that one false quote
   * leaves the other half. A smaller part would stop pauses when gas is expensive; by default one is sent at 500 gwei.
   */
  readonly maxWei: bigint;

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly coins: CoinStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.maxWei = settings.gasDailyCoin / 2n;
  }

  /**
   * Counts the highest possible cost of a transaction before it is signed.
   * @throws GasRefusedError if less is left of the account's day
   */
  async reserve(account: Address, wei: bigint): Promise<void> {
    const { chainId, gasDailyCoin: dailyWei } = this.settings;
    const nowMs = this.clock.nowMs();
    if (await this.coins.reserve({ chainId, account, wei, dailyWei, nowMs })) return;
    const spent = await this.coins.spent(chainId, account, nowMs);
    throw new GasRefusedError(
      `it may cost ${formatCoin(wei)} of the chain's coin, and ${formatCoin(spent)} of the day's ${formatCoin(dailyWei)} (GAS_DAILY_COIN) are spent`,
    );
  }
}
