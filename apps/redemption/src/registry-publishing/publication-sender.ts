import { Inject, Injectable } from '@nestjs/common';
import {
  ExecutionRevertedError,
  GasRefusedError,
  publishCalldata,
  type RegistryTransaction,
  type SignedTransaction,
} from '#libs/chain';
import { type Publication, PublicationStore, type StoredTransaction } from '#libs/db';
import { type BlockHash, dayText, type NodeHash, PermanentError } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { replacementPrice } from './publication-plan.js';
import { GasBudget } from '../chain/gas-budget.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { RegistryCheck, RegistryLink } from './registry-link.js';

const NO_COIN = /insufficient (?:funds|balance)|gas required exceeds allowance/i;

interface Cost {
  readonly gasPrice: bigint;
  readonly gas: bigint;
}

interface SigningRequest {
  readonly nonce: number;
  /** The transaction that is replaced, under the same nonce; undefined for a first one. */
  readonly instead: StoredTransaction | undefined;
}

/**
 * Signs and sends publications. A signed transaction is stored under its nonce before it is sent. After a crash any
 * process sends the same bytes again, or replaces them under the same nonce, of which at most one transaction is mined.
 */
@Injectable()
export class PublicationSender {
  constructor(
    private readonly link: RegistryLink,
    private readonly check: RegistryCheck,
    private readonly store: PublicationStore,
    private readonly budget: GasBudget,
    private readonly alerts: HourlyAlerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Signs under a nonce that no other transaction has.
   * @returns false where the publication has to wait; an alert says for what
   */
  signNew(publication: Publication, nonce: number): Promise<boolean> {
    return this.sign(publication, { nonce, instead: undefined });
  }

  /**
   * Signs again at a higher price, under the same nonce. Where that is not possible, the stored transaction is sent
   * again.
   */
  async replace(publication: Publication, nonce: number): Promise<void> {
    const { transaction: instead } = publication;
    if (await this.sign(publication, { nonce, instead })) return;
    // The stored transaction must not be sent where its root is no longer the one to be published.
    if (instead?.root === publication.root) await this.sendAgain(publication, nonce);
  }

  /** Sends the stored transaction again, which a node or a reorganisation may have dropped. */
  async sendAgain(publication: Publication, nonce: number): Promise<void> {
    const { transaction } = publication;
    if (transaction === undefined) return;
    const { gasPrice, gas, root, hash } = transaction;
    const signed = await this.signed(publication, root, { nonce, gasPrice, gas });
    if (signed.hash !== hash) {
      throw new PermanentError(
        'REGISTRY_TRANSACTION_DIFFERS',
        `The transaction ${hash} of ${dayText(publication.day)} comes out differently: was CHAIN_ID or its row changed?`,
      );
    }
    await this.send(publication, signed);
  }

  private async sign(
    publication: Publication,
    { nonce, instead }: SigningRequest,
  ): Promise<boolean> {
    const { day, root } = publication;
    const { address: account } = this.link.account;
    await this.check.requireVerified();
    const cost = await this.affordable(publication, instead);
    if (cost === undefined) return false;
    const signed = await this.signed(publication, root, { nonce, ...cost });
    const nowMs = this.clock.nowMs();
    const kept = { day, root, account, nonce, hash: signed.hash, ...cost, nowMs };
    if (!(await this.store.sign(kept))) return true;
    const { gasPrice } = cost;
    const fields = { day: dayText(publication.day), transaction: signed.hash, nonce };
    this.logger.info({ ...fields, gasPrice: gasPrice.toString() }, 'Publishing');
    await this.send(publication, signed);
    return true;
  }

  /** The cost at which the publication may be signed now; undefined where it has to wait. */
  private async affordable(
    publication: Publication,
    instead: StoredTransaction | undefined,
  ): Promise<Cost | undefined> {
    const what = dayText(publication.day);
    const data = publishCalldata(publication.day, publication.root);
    try {
      const going = await this.link.account.price(data);
      const cost = instead === undefined ? going : this.replacementCost(what, going, instead);
      if (cost !== undefined) await this.reserve(cost, instead);
      return cost;
    } catch (error) {
      if (error instanceof GasRefusedError) {
        const detail = `${what} waits: ${error.message}`;
        this.alerts.raise({ severity: 'warning', code: 'registry-gas-refused', detail });
        return undefined;
      }
      if (!(error instanceof ExecutionRevertedError)) throw error;
      await this.explain(what, error);
      return undefined;
    }
  }

  /** The cost of replacing a transaction that is in no block; undefined if the replacement would cost too much. */
  private replacementCost(
    what: string,
    { gasPrice: going, gas }: Cost,
    { hash, gasPrice: before }: StoredTransaction,
  ): Cost | undefined {
    const gasPrice = replacementPrice(before, going, this.budget.maxWei / gas);
    if (gasPrice !== undefined) return { gasPrice, gas };
    const detail = `${what}: transaction ${hash} is in no block, and GAS_DAILY_COIN leaves no room for one that pays more`;
    this.alerts.raise({ severity: 'warning', code: 'registry-transaction-stuck', detail });
    return undefined;
  }

  /**
   * Reserves what the transaction may cost more than the one that it replaces, of which at most one is mined.
   * @throws GasRefusedError
   */
  private async reserve(cost: Cost, instead: Cost | undefined): Promise<void> {
    const reserved = instead === undefined ? 0n : instead.gasPrice * instead.gas;
    const wei = cost.gasPrice * cost.gas - reserved;
    if (wei > 0n) await this.budget.reserve(this.link.account.address, wei);
  }

  /** Raises the alert that says why the contract, or a node, refuses a publication. */
  private async explain(what: string, { message }: ExecutionRevertedError): Promise<void> {
    if (NO_COIN.test(message)) {
      this.alertCoinShort();
      return;
    }
    await this.check.verify();
    const detail = `${what} waits: ${message}`;
    this.alerts.raise({ severity: 'warning', code: 'registry-refuses', detail });
  }

  private signed(
    publication: Publication,
    root: NodeHash,
    cost: Omit<RegistryTransaction, 'data'>,
  ): Promise<SignedTransaction> {
    return this.link.account.sign({ ...cost, data: publishCalldata(publication.day, root) });
  }

  /**
   * Sends to every endpoint. Their answers decide nothing: the next poll reads from the registry whether the root
   * arrived.
   */
  private async send(publication: Publication, signed: SignedTransaction): Promise<void> {
    const { taken, refusals } = await this.link.account.send(signed);
    if (refusals.some((refusal) => NO_COIN.test(refusal))) this.alertCoinShort();
    if (taken > 0) return;
    const transaction: BlockHash = signed.hash;
    this.logger.warn({ day: dayText(publication.day), transaction, refusals }, 'No node took it');
  }

  private alertCoinShort(): void {
    const detail = `${this.link.account.address} has not enough of the chain's coin to publish. Send it some.`;
    this.alerts.raise({ severity: 'warning', code: 'registry-coin-short', detail });
  }
}
