import { LRUCache } from 'lru-cache';
import { ExecutionRevertedError, type RpcPool, VaultCanceller, vaultIdOf } from '#libs/chain';
import { type Address, type UuidV7 } from '#libs/domain';
import { type Clock } from '#libs/platform';

export interface CancelRequestsOptions {
  readonly pool: RpcPool;
  readonly clock: Clock;
  readonly chainId: number;
  readonly privateKey: string;
}

/** Long enough for a transaction to be mined, short against a voucher's life. */
const AGAIN_AFTER_MS = 60_000;
const REMEMBERED = 10_000;
const VAULTS = 16;

/**
 * Sends cancellations, one after the other: they share an account, whose next nonce a node tells only after it has the one
 * before. Another replica's may still take the same nonce; the node refuses one of the two, and it is asked for again.
 */
export class CancelRequests {
  private readonly askedAtMs = new LRUCache<UuidV7, number>({ max: REMEMBERED });
  private readonly cancellers = new LRUCache<Address, VaultCanceller>({ max: VAULTS });
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: CancelRequestsOptions) {}

  /**
   * @returns `sent`; `recent` where the vault was asked within the last minute; `refused` where the vault would not take it: claimed or
   *   cancelled already, or the account lacks the role
   * @throws AllEndpointsFailedError
   */
  request(redemptionId: UuidV7, vault: Address): Promise<'sent' | 'recent' | 'refused'> {
    const turn = this.last.then(() => this.send(redemptionId, vault));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async send(id: UuidV7, vault: Address): Promise<'sent' | 'recent' | 'refused'> {
    const { clock } = this.options;
    const ageMs = clock.nowMs() - (this.askedAtMs.get(id) ?? -Infinity);
    if (ageMs >= 0 && ageMs < AGAIN_AFTER_MS) return 'recent';
    const outcome = await this.sendNow(id, vault);
    this.askedAtMs.set(id, clock.nowMs());
    return outcome;
  }

  private async sendNow(id: UuidV7, vault: Address): Promise<'sent' | 'refused'> {
    try {
      await this.cancellerOf(vault).cancel(vaultIdOf(id));
      return 'sent';
    } catch (error) {
      if (!(error instanceof ExecutionRevertedError)) throw error;
      return 'refused';
    }
  }

  /** A vault that was replaced takes cancellations still. */
  private cancellerOf(vault: Address): VaultCanceller {
    const { pool, chainId, privateKey } = this.options;
    const known = this.cancellers.get(vault);
    if (known) return known;
    const canceller = new VaultCanceller(pool, { chainId, vault }, privateKey);
    this.cancellers.set(vault, canceller);
    return canceller;
  }
}
