import { Inject, Injectable } from '@nestjs/common';
import {
  AllEndpointsFailedError,
  readVaultFacts,
  RpcPool,
  type VaultFacts,
  vaultFaults,
} from '#libs/chain';
import { type Address, LowmarkError } from '#libs/domain';
import { CLOCK, type Clock, FreshValue } from '#libs/platform';
import { RedemptionSettings } from '../redemption.env.js';
import { CONDITIONS_KEPT_SECONDS, type PayoutRefusal, payoutRefusal } from './payout-refusal.js';
import { VaultAccounts } from './vault-accounts.js';

/** Milliseconds for which the facts of the vault are kept. A user waits for a node only where none are kept. */
const FRESH_MS = CONDITIONS_KEPT_SECONDS * 1000;

export interface VaultReport {
  /** Texts for an operator about what is set up wrongly: nothing can be paid before that is corrected. */
  readonly faults: readonly string[];
  /** Texts for an operator about what is wrong although points can still be read, given back and confirmed. */
  readonly concerns: readonly string[];
}

interface KnownVault extends VaultFacts {
  readonly faults: readonly string[];
}

/** Reports whether the vault could pay now, by its newest block. */
@Injectable()
export class VaultConditions {
  private readonly vault: Address;
  private readonly canceller: Address;
  private readonly known: FreshValue<KnownVault>;

  constructor(
    { vaultPlace: place, tokenContract: token, voucherTtlSeconds }: RedemptionSettings,
    pool: RpcPool,
    { signer, canceller }: VaultAccounts,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.vault = place.vault;
    this.canceller = canceller.address;
    const roles = { signer: signer.address, canceller: canceller.address };
    const question = { place, token, ...roles, voucherTtlSeconds };
    const read = async (): Promise<KnownVault> => {
      const facts = await readVaultFacts(pool, question);
      return { ...facts, faults: vaultFaults(facts, question) };
    };
    this.known = new FreshValue(read, { clock, ttlMs: FRESH_MS });
  }

  /** The facts at the newest block, at most ten seconds old. @throws AllEndpointsFailedError */
  facts(): Promise<KnownVault> {
    return this.known.get();
  }

  /** For the health page: an unreachable chain is one of the concerns, not an error. */
  async report(): Promise<VaultReport> {
    try {
      const { vault, canceller } = this;
      const { faults, isPaused, isCanceller } = await this.facts();
      if (faults.length > 0) return { faults, concerns: [] };
      const concerns = isPaused ? [`VAULT_CONTRACT: ${vault} is paused.`] : [];
      if (!isCanceller) {
        concerns.push(
          `VAULT_CANCELLER_KEY: its address ${canceller} does not hold CANCELLER_ROLE of ${vault}.`,
        );
      }
      return { faults, concerns };
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      return { faults: [], concerns: [`RPC_URLS: the vault cannot be read now (${error.code}).`] };
    }
  }

  /**
   * @returns why this amount could not be claimed now; undefined where it could
   * @param promised tokens that others can claim before. A claim that is not final yet is counted twice, which errs on
   *   the safe side
   */
  async refusal(amount: bigint, promised: bigint): Promise<PayoutRefusal | undefined> {
    try {
      return refusalBy(await this.facts(), amount, promised);
    } catch (error) {
      // No points may be taken while it is not known whether the payout can be made.
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      return payoutRefusal('chain');
    }
  }

  /**
   * The tokens that may be promised in all, the open payouts included. 0 where this amount could not be claimed even
   * without the open payouts, or where the chain cannot be read.
   */
  async room(amount: bigint): Promise<bigint> {
    if ((await this.refusal(amount, 0n)) !== undefined) return 0n;
    const { balance, remainingInWindow } = await this.facts();
    return balance < remainingInWindow ? balance : remainingInWindow;
  }
}

function refusalBy(
  { faults, isPaused, windowCap, balance, remainingInWindow }: KnownVault,
  amount: bigint,
  promised: bigint,
): PayoutRefusal | undefined {
  if (isPaused) return payoutRefusal('paused');
  if (faults.length > 0) return payoutRefusal('set-up');
  if (amount > windowCap) return payoutRefusal('too-much');
  const owed = amount + promised;
  if (owed > balance) return payoutRefusal('balance');
  return owed > remainingInWindow ? payoutRefusal('window') : undefined;
}
