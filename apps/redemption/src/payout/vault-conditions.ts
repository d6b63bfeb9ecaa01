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

/** Between two looks at the vault; a user waits for one only where there was none just now. */
const FRESH_MS = CONDITIONS_KEPT_SECONDS * 1000;

export interface VaultReport {
  /** Set up wrongly: nothing can be paid before an operator has put it right. */
  readonly faults: readonly string[];
  /** What is not as it should be, while points can still be read, given back and confirmed. */
  readonly concerns: readonly string[];
}

interface KnownVault extends VaultFacts {
  /** What is set up wrongly, for an operator. */
  readonly faults: readonly string[];
}

/** Whether the vault could pay now, as its newest block has it. */
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

  /** Of the vault's newest block, at most ten seconds old. @throws AllEndpointsFailedError */
  facts(): Promise<KnownVault> {
    return this.known.get();
  }

  /** For the health page: an unreachable chain is a sentence there, never an error. */
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
   * Why this amount could not be claimed now; undefined where it could.
   * @param promised what others can claim before; a claim that is not final yet is counted twice, which errs on the safe side
   */
  async refusal(amount: bigint, promised: bigint): Promise<PayoutRefusal | undefined> {
    try {
      return refusalBy(await this.facts(), amount, promised);
    } catch (error) {
      // No points may go for a payout of which it is not known whether it can be made.
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      return payoutRefusal('chain');
    }
  }

  /**
   * What may be promised in all, the open payouts included; 0 where this amount could not be claimed now, whatever the others do, also
   * because nothing is known of the chain.
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
