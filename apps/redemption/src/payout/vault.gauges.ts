import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { type VaultFacts } from '#libs/chain';
import { type Logger, SingleFlight } from '#libs/platform';
import { Gauge, type Registry } from '#libs/service';

export interface VaultGaugesParts {
  /** @see VoucherPayout.facts */
  readonly facts: () => Promise<VaultFacts>;
  readonly registry: Registry;
  readonly logger: Logger;
  /** The gauges are in whole tokens; undefined where the chain was not reached yet. */
  readonly tokenDecimals: () => number | undefined;
}

const INTERVAL_MS = 30_000;

/** What the vault holds and may pay, for alerts before it runs dry. Read on its own: a scrape must not wait for a node. */
@Injectable()
export class VaultGauges implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly balance: Gauge;
  private readonly remaining: Gauge;
  private readonly paused: Gauge;
  private interval: NodeJS.Timeout | undefined;
  private readonly readings = new SingleFlight<void>();
  private isSilent = false;

  constructor(private readonly parts: VaultGaugesParts) {
    // Without a label a gauge begins as 0, which would look like an empty vault until the first answer.
    const gauge = (name: string, help: string): Gauge => {
      const one = new Gauge({ name, help, registers: [parts.registry] });
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
    const read = (): void => {
      void this.readings.run(() => this.refresh());
    };
    read();
    this.interval = setInterval(read, INTERVAL_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.interval);
    await this.readings.underWay();
  }

  /** Never rejects; where the vault cannot be read, the gauges are empty. */
  async refresh(): Promise<void> {
    const { facts, logger, tokenDecimals } = this.parts;
    const decimals = tokenDecimals();
    if (decimals === undefined) return;
    const whole = 10 ** decimals;
    try {
      const { balance, remainingInWindow, isPaused } = await facts();
      this.balance.set(Number(balance) / whole);
      this.remaining.set(Number(remainingInWindow) / whole);
      this.paused.set(isPaused ? 1 : 0);
      this.isSilent = false;
    } catch (error) {
      for (const one of [this.balance, this.remaining, this.paused]) one.remove();
      if (!this.isSilent) logger.warn({ err: error }, 'The vault cannot be read');
      this.isSilent = true;
    }
  }
}
