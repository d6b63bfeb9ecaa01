import { Inject, Injectable } from '@nestjs/common';
import {
  ExecutionRevertedError,
  GasRefusedError,
  readVaultFacts,
  RpcPool,
  vaultIdOf,
} from '#libs/chain';
import {
  type Address,
  compareDecimals,
  type Decimal,
  LowmarkError,
  PermanentError,
  type UuidV7,
} from '#libs/domain';
import { CLOCK, type Clock, type Logger, SingleFlight, TtlCache } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';
import { gasAlert, VaultAccounts } from './vault-accounts.js';

export interface CancelRequest {
  readonly redemptionId: UuidV7;
  readonly vault: Address;
  /** What the points are worth, which no price changes. */
  readonly usdAmount: Decimal;
}

/** Long enough for a transaction to be mined, short against a voucher's life. */
const AGAIN_AFTER_MS = 60_000;
const REMEMBERED = 10_000;

/**
 * Sends cancellations in the background, one after the other: they share an account, whose next nonce a node tells only after it has
 * the one before. Who asks does not wait for a node, so that his lease outlasts any number of them. What is lost with the process is
 * asked for again at the next look at the payout. Another replica's may take the same nonce; the node refuses one of the two.
 */
@Injectable()
export class CancelRequests {
  private readonly asked: TtlCache<UuidV7, true>;
  private readonly waiting = new Map<UuidV7, Address>();
  private readonly sending = new SingleFlight<void>();
  private isClosed = false;

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly accounts: VaultAccounts,
    private readonly alerts: Alerts,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.asked = new TtlCache({ clock, ttlMs: AGAIN_AFTER_MS, max: REMEMBERED });
  }

  /**
   * @returns `waiting` where it is sent as soon as those before it are; `recent` where the vault was asked within the last minute;
   *   `expires` where it is worth too little
   */
  request({ redemptionId, vault, usdAmount }: CancelRequest): 'waiting' | 'recent' | 'expires' {
    if (compareDecimals(usdAmount, this.settings.vaultCancelMinUsd) < 0) return 'expires';
    if (this.asked.get(redemptionId)) return 'recent';
    this.waiting.set(redemptionId, vault);
    void this.sending.run(() => this.sendAll());
    return 'waiting';
  }

  /** When all that was asked for was sent, or refused. */
  async sent(): Promise<void> {
    while (this.sending.underWay()) await this.sending.underWay();
  }

  /** Lets the one under way end, and forgets the others. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.sent();
  }

  /** Never rejects. */
  private async sendAll(): Promise<void> {
    for (const [id, vault] of this.waiting) {
      if (this.isClosed) return;
      await this.send(id, vault);
      this.waiting.delete(id);
    }
  }

  private async send(redemptionId: UuidV7, vault: Address): Promise<void> {
    const { alerts, logger } = this;
    try {
      await this.sendOrRequireRole(redemptionId, vault);
      this.asked.set(redemptionId, true);
    } catch (error) {
      if (error instanceof GasRefusedError) {
        this.asked.set(redemptionId, true);
        const account = this.accounts.canceller.address;
        alerts.raise(gasAlert(error, { what: 'a cancellation', redemptionId, account }));
      } else if (error instanceof LowmarkError) {
        logger.warn({ err: error, redemptionId }, 'The vault was not asked to cancel');
      } else {
        logger.error({ err: error, redemptionId }, 'A cancellation failed');
      }
    }
  }

  /** A vault refuses what is claimed or cancelled already, which is no error, and who lacks the role, which is one. */
  private async sendOrRequireRole(id: UuidV7, vault: Address): Promise<void> {
    const { canceller: account } = this.accounts;
    const { chainId, tokenContract: token } = this.settings;
    try {
      await account.cancel(vault, vaultIdOf(id));
    } catch (error) {
      if (!(error instanceof ExecutionRevertedError)) throw error;
      const question = { place: { chainId, vault }, token, signer: account.address };
      const { isCanceller } = await readVaultFacts(this.pool, question);
      if (isCanceller) return;
      throw new PermanentError(
        'VAULT_CANCELLER_LACKS_ROLE',
        `VAULT_CANCELLER_KEY: grant CANCELLER_ROLE of ${vault} to ${account.address}; until then vouchers only expire.`,
      );
    }
  }
}
