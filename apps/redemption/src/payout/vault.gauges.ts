import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type Logger, SingleFlight } from '#libs/platform';
import { Gauge, LOGGER, Registry } from '#libs/service';
import { ChainLink } from '../chain/chain-link.js';
import { VaultConditions } from './vault-conditions.js';

const INTERVAL_MS = 30_000;

/**
 * Gauges of what the vault holds and may pay, for alerts before the vault is empty. A timer reads the vault, since a
 * scrape must not wait for a node.
 */
@Injectable()
export class VaultGauges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly balance: Gauge;
  private readonly remaining: Gauge;
  private readonly paused: Gauge;
  private readonly readings = new SingleFlight<void>();
  private isSilent = false;

  constructor(
    private readonly conditions: VaultConditions,
    private readonly chain: ChainLink,
    registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    // A gauge without labels begins as 0, which would look like an empty vault until the first answer.
    const gauge = (name: string, help: string): Gauge => {
      const one = new Gauge({ name, help, registers: [registry] });
      one.remove();
      return one;
    };
    this.balance = gauge('lowmark_vault_balance_tokens', 'What the vault holds');
    this.remaining = gauge(
      'lowmark_vault_window_remaining_tokens',
      'What the vault may still pay in the window under way',
    );
    this.paused = gauge('lowmark_vault_paused', '1 while the vault pays nothing');
  }

  onApplicationBootstrap(): void {
    void this.refresh();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.readings.underWay();
  }

  @Interval('vault-gauges', INTERVAL_MS)
  refresh(): Promise<void> {
    return this.readings.run(() => this.readVault());
  }

  /** Never rejects; where the vault cannot be read, the gauges have no value. Figures are in whole tokens. */
  private async readVault(): Promise<void> {
    const decimals = this.chain.tokenDecimals;
    if (decimals === undefined) return;
    const whole = 10 ** decimals;
    try {
      const { balance, remainingInWindow, isPaused } = await this.conditions.facts();
      this.balance.set(Number(balance) / whole);
      this.remaining.set(Number(remainingInWindow) / whole);
      this.paused.set(isPaused ? 1 : 0);
      this.isSilent = false;
    } catch (error) {
      for (const one of [this.balance, this.remaining, this.paused]) one.remove();
      if (!this.isSilent) this.logger.warn({ err: error }, 'The vault cannot be read');
      this.isSilent = true;
    }
  }
}
