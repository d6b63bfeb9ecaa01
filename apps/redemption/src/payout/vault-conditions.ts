import { Inject, Injectable } from '@nestjs/common';
import {
  AllEndpointsFailedError,
  readVaultFacts,
  RpcPool,
  type VaultFacts,
  vaultFaults,
  type VaultQuestion,
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

/** Whether the vault could pay now, as its newest block has it. */
@Injectable()
export class VaultConditions {
  private readonly question: VaultQuestion & { readonly canceller: Address };
  private readonly known: FreshValue<VaultFacts>;

  constructor(
    { vaultPlace: place, tokenContract: token, voucherTtlSeconds }: RedemptionSettings,
    pool: RpcPool,
    { signer, canceller }: VaultAccounts,
    @Inject(CLOCK) clock: Clock,
  ) {
    const roles = { signer: signer.address, canceller: canceller.address };
    const question = { place, token, ...roles, voucherTtlSeconds };
    this.question = question;
    const read = (): Promise<VaultFacts> => readVaultFacts(pool, question);
    this.known = new FreshValue(read, { clock, ttlMs: FRESH_MS });
  }

  /** Of the vault's newest block, at most ten seconds old. @throws AllEndpointsFailedError */
  facts(): Promise<VaultFacts> {
    return this.known.get();
  }

  /** For the health page: an unreachable chain is a sentence there, never an error. */
  async report(): Promise<VaultReport> {
    try {
      const facts = await this.facts();
      const { place, canceller } = this.question;
      const faults = vaultFaults(facts, this.question);
      if (faults.length > 0) return { faults, concerns: [] };
      return {
        faults,
        concerns: [
          ...(facts.isPaused ? [`VAULT_CONTRACT: ${place.vault} is paused.`] : []),
          ...(facts.isCanceller
            ? []
            : [
                `VAULT_CANCELLER_KEY: its address ${canceller} does not hold CANCELLER_ROLE of ${place.vault}.`,
              ]),
        ],
      };
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
      return this.refusalBy(await this.facts(), amount, promised);
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

  private refusalBy(
    facts: VaultFacts,
    amount: bigint,
    promised: bigint,
  ): PayoutRefusal | undefined {
    if (facts.isPaused) return payoutRefusal('paused');
    if (vaultFaults(facts, this.question).length > 0) return payoutRefusal('set-up');
    if (amount > facts.windowCap) return payoutRefusal('too-much');
    const owed = amount + promised;
    if (owed > facts.balance) return payoutRefusal('balance');
    return owed > facts.remainingInWindow ? payoutRefusal('window') : undefined;
  }
}
