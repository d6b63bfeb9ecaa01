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
  /** USD value of the points, which does not change with the token's price. */
  readonly usdAmount: Decimal;
}

/**
 * Milliseconds before a repeated cancellation: long enough for a transaction to be mined, short compared with a
 * voucher's life.
 */
const RESEND_AFTER_MS = 60_000;
const RECENT_MAX = 10_000;

/**
 * Sends cancellations in the background, one after the other: they share an account, and a node knows the next nonce
 * only after it has taken the transaction before. Callers do not wait for a node, so a lease does not end because of
 * many cancellations. A cancellation that is lost with its process is asked for again at the next poll of the payout.
 * Another replica may use the same nonce at the same time; the node refuses one of the two.
 */
@Injectable()
export class CancelRequests {
  private readonly recentlySent: TtlCache<UuidV7, true>;
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
    this.recentlySent = new TtlCache({ clock, ttlMs: RESEND_AFTER_MS, max: RECENT_MAX });
  }

  /**
   * @returns `waiting` where the cancellation is sent after those before it; `recent` where the vault was asked within
   *   the last minute; `expires` where the redemption is worth less than `vaultCancelMinUsd`
   */
  request({ redemptionId, vault, usdAmount }: CancelRequest): 'waiting' | 'recent' | 'expires' {
    if (compareDecimals(usdAmount, this.settings.vaultCancelMinUsd) < 0) return 'expires';
    if (this.recentlySent.get(redemptionId)) return 'recent';
    this.waiting.set(redemptionId, vault);
    void this.sending.run(() => this.sendAll());
    return 'waiting';
  }

  /** Resolves when all requested cancellations were sent or refused. */
  async sent(): Promise<void> {
    while (this.sending.underWay()) await this.sending.underWay();
  }

  /** Awaits the cancellation under way, and drops the others. */
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
      this.recentlySent.set(redemptionId, true);
    } catch (error) {
      if (error instanceof GasRefusedError) {
        this.recentlySent.set(redemptionId, true);
        const account = this.accounts.canceller.address;
        alerts.raise(gasAlert(error, { what: 'a cancellation', redemptionId, account }));
      } else if (error instanceof LowmarkError) {
        logger.warn({ err: error, redemptionId }, 'The vault was not asked to cancel');
      } else {
        logger.error({ err: error, redemptionId }, 'A cancellation failed');
      }
    }
  }

  /**
   * A vault also refuses to cancel what is claimed or cancelled already, which is no error. Only a missing role is one.
   */
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
