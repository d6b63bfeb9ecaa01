import { Inject, Injectable } from '@nestjs/common';
import { ChainReader, RpcPool } from '#libs/chain';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, type Logger, withTimeout } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { type PayoutRefusal, payoutRefusal } from '../payout/payout-refusal.js';
import { VaultConditions } from '../payout/vault-conditions.js';
import { RedemptionSettings } from '../redemption.env.js';
import { ChainLink } from './chain-link.js';

/**
 * Samples that are kept of the distance from the final block to the newest one. The distance varies; the longest sample
 * counts.
 */
const SAMPLES = 30;
const SAMPLE_MS = 60_000;
/** Milliseconds until the next read after a failed one. */
const RETRY_MS = 10_000;
/** Milliseconds that a user waits for a node at most. */
const PATIENCE_MS = 1_000;
/** Seconds for the engine and the revert call, after the chain has permitted to give the points back. */
const ENGINE_SECONDS = 60;

/** Facts about the chain for pages. Read once a minute at most, when a page asks. */
@Injectable()
export class ChainFacts {
  private readonly reader: ChainReader;
  private readonly lags: number[] = [];
  private symbol: string | undefined;
  private dueMs = -Infinity;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly link: ChainLink,
    private readonly vault: VaultConditions,
    pool: RpcPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.reader = new ChainReader(pool, { finality: settings.finality });
  }

  get tokenDecimals(): number | undefined {
    return this.link.tokenDecimals;
  }

  /** The symbol as the contract names it; undefined while it is not known. */
  async tokenSymbol(): Promise<string | undefined> {
    await this.lookIfDue();
    return this.symbol;
  }

  /** Seconds that the final block was behind the newest one, at most, in recent samples; undefined without a sample. */
  async finalitySeconds(): Promise<number | undefined> {
    await this.lookIfDue();
    return this.lags.length === 0 ? undefined : Math.max(...this.lags);
  }

  /**
   * Seconds from a voucher's deadline until the points are back, where chain and partner answer; undefined while not
   * known.
   */
  async returnSeconds(): Promise<number | undefined> {
    const finality = await this.finalitySeconds();
    if (finality === undefined) return undefined;
    const { payoutExpiryMarginSeconds: margin, payoutPollMs } = this.settings;
    // The margin applies with a single endpoint only, but is always counted, so that the forecast is never too early.
    return Math.max(finality, margin) + Math.ceil(payoutPollMs / 1000) + ENGINE_SECONDS;
  }

  /** Why not even the smallest amount could be paid now; undefined where it could. */
  payoutRefusal(): Promise<PayoutRefusal | undefined> {
    if (this.tokenDecimals === undefined) return Promise.resolve(payoutRefusal('chain'));
    return withTimeout(PATIENCE_MS, this.vault.refusal(1n, 0n), () => payoutRefusal('chain'));
  }

  /** Reads the chain where a read is due. Waits only while nothing is known, and then a second at most. */
  private async lookIfDue(): Promise<void> {
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.dueMs) {
      this.dueMs = nowMs + SAMPLE_MS;
      this.reading = this.look();
    }
    if (this.lags.length === 0) await withTimeout(PATIENCE_MS, this.reading, () => undefined);
  }

  /** Never rejects. */
  private async look(): Promise<void> {
    try {
      const { latest, finalised } = await this.reader.heads();
      this.lags.push(latest.timestampSeconds - finalised.timestampSeconds);
      if (this.lags.length > SAMPLES) this.lags.shift();
      const { tokenContract } = this.settings;
      const known = { decimals: this.tokenDecimals };
      this.symbol ??= (await this.reader.token(tokenContract, known)).symbol;
    } catch (error) {
      this.dueMs = this.clock.nowMs() + RETRY_MS;
      // Other alerts report a chain that cannot be asked.
      if (error instanceof LowmarkError) return;
      this.logger.error({ err: error }, 'The chain could not be looked at');
    }
  }
}
