import { Inject, Injectable } from '@nestjs/common';
import { ChainReader, RpcPool } from '#libs/chain';
import { LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, within } from '#libs/platform';
import { type PayoutRefusal, payoutRefusal } from '../payout/payout-refusal.js';
import { VaultConditions } from '../payout/vault-conditions.js';
import { RedemptionSettings } from '../redemption.env.js';
import { ChainLink } from './chain-link.js';

/** How far behind the newest block the final one is grows and shrinks: the longest of the last ones counts. */
const SAMPLES = 30;
const SAMPLE_MS = 60_000;
/** After a look that failed. */
const RETRY_MS = 10_000;
/** A user waits for a node no longer. */
const PATIENCE_MS = 1_000;
/** Of the engine and of the call that gives the points back, once the chain has said that they may go back. */
const ENGINE_SECONDS = 60;

/** What pages say of the chain: read in passing, and never waited for long. */
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
  ) {
    this.reader = new ChainReader(pool, { finality: settings.finality });
  }

  get tokenDecimals(): number | undefined {
    return this.link.tokenDecimals;
  }

  /** As the contract names itself; undefined while it is not known. */
  async tokenSymbol(): Promise<string | undefined> {
    await this.lookIfDue();
    return this.symbol;
  }

  /** How long a block takes to become final, by what was seen; undefined while nothing was. */
  async finalitySeconds(): Promise<number | undefined> {
    await this.lookIfDue();
    return this.lags.length === 0 ? undefined : Math.max(...this.lags);
  }

  /** How long after a voucher's deadline the points are back, where chain and partner answer; undefined while it is not known. */
  async returnSeconds(): Promise<number | undefined> {
    const finality = await this.finalitySeconds();
    if (finality === undefined) return undefined;
    const { payoutExpiryMarginSeconds: margin, payoutPollMs } = this.settings;
    // The margin counts where one provider is all there is; it is as long as it is for everyone, so that no time is told that is too early.
    return Math.max(finality, margin) + Math.ceil(payoutPollMs / 1000) + ENGINE_SECONDS;
  }

  /** Why nothing could be paid now, be it ever so little; undefined where it could. */
  payoutRefusal(): Promise<PayoutRefusal | undefined> {
    if (this.tokenDecimals === undefined) return Promise.resolve(payoutRefusal('chain'));
    return within(PATIENCE_MS, this.vault.refusal(1n, 0n), () => payoutRefusal('chain'));
  }

  /** Waits for what is not known at all, and not long. */
  private async lookIfDue(): Promise<void> {
    const nowMs = this.clock.nowMs();
    if (nowMs >= this.dueMs) {
      this.dueMs = nowMs + SAMPLE_MS;
      this.reading = this.look();
    }
    if (this.lags.length === 0) await within(PATIENCE_MS, this.reading, () => undefined);
  }

  /** Never rejects with what may pass. */
  private async look(): Promise<void> {
    try {
      const { latest, finalised } = await this.reader.heads();
      this.lags.push(latest.timestampSeconds - finalised.timestampSeconds);
      if (this.lags.length > SAMPLES) this.lags.shift();
      const { tokenContract } = this.settings;
      const known = { decimals: this.tokenDecimals };
      this.symbol ??= (await this.reader.token(tokenContract, known)).symbol;
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      this.dueMs = this.clock.nowMs() + RETRY_MS;
    }
  }
}
