import { type Address, LowmarkError } from '#libs/domain';
import {
  isKnownTransaction,
  SendingAccount,
  type SendingAccountOptions,
  type SignedTransaction,
  type UnsignedTransaction,
} from '../accounts/sending-account.js';
import { RpcRefusedError } from '../rpc/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type Hex } from '../rpc/hex.js';

type RegistryAccountOptions = SendingAccountOptions & { readonly registry: Address };

export type RegistryTransaction = Omit<UnsignedTransaction, 'to'>;

export interface Delivery {
  readonly taken: number;
  /** Why the other endpoints refused the transaction, each with the endpoint's name. */
  readonly refusals: readonly string[];
}

/**
 * The account that publishes: it holds `PUBLISHER_ROLE` and some of the chain's coin. Signing and sending are two
 * steps, so that a signed transaction is stored before it is sent.
 */
export class RegistryAccount extends SendingAccount {
  /** @throws PermanentError where the text is not a key; the message does not repeat it */
  constructor(private readonly options: RegistryAccountOptions) {
    super(options);
  }

  /**
   * The price and the gas at which the call would be signed now.
   * @throws GasRefusedError, ExecutionRevertedError, AllEndpointsFailedError
   */
  price(data: string): Promise<{ readonly gasPrice: bigint; readonly gas: bigint }> {
    return this.quotes.affordable({ to: this.options.registry, data });
  }

  override sign(transaction: RegistryTransaction): Promise<SignedTransaction> {
    return super.sign({ ...transaction, to: this.options.registry });
  }

  /**
   * Sends the transaction to every endpoint, so that none can hold it back. An endpoint that has the transaction
   * already counts as having taken it.
   * @throws AllEndpointsFailedError where no endpoint answers at all
   */
  async send({ raw }: SignedTransaction): Promise<Delivery> {
    const refusals: string[] = [];
    let taken = 0;
    let silent: LowmarkError | undefined;
    for (const only of this.options.pool.endpoints) {
      try {
        const refusal = await this.sendBy(only, raw);
        if (refusal === undefined) taken++;
        else refusals.push(refusal);
      } catch (error) {
        if (!(error instanceof LowmarkError)) throw error;
        silent = error;
      }
    }
    if (taken === 0 && refusals.length === 0 && silent) throw silent;
    return { taken, refusals };
  }

  /**
   * @returns why the node refused the transaction, which says nothing about the node's health; undefined where it took
   * it
   */
  private sendBy(only: string, raw: Hex): Promise<string | undefined> {
    return this.options.pool.run(
      async (session) => {
        const call = { method: 'eth_sendRawTransaction', params: [raw] };
        const [result] = (await session.batch([call])).results;
        if (isKnownTransaction(result)) return undefined;
        if (result?.ok === false && result.error instanceof RpcRefusedError) {
          return result.error.message;
        }
        valueOf(result);
        return undefined;
      },
      { only, patienceMs: 0 },
    );
  }
}
