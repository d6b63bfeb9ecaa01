import { type Address, LowmarkError } from '#libs/domain';
import { type GasQuote } from '../accounts/gas-quotes.js';
import {
  isKnownTransaction,
  SendingAccount,
  type SendingAccountOptions,
} from '../accounts/sending-account.js';
import { valueOf } from '../rpc/rpc-call.js';
import { cancelCalldata, pauseCalldata } from './voucher.js';
import { type VaultId } from './vault-event.js';
import { type Hex } from '../rpc/hex.js';

export interface VaultAccountOptions extends SendingAccountOptions {
  /** Counts the highest possible cost of a transaction, in wei, before it is signed. @throws GasRefusedError */
  readonly reserve: (wei: bigint) => Promise<void>;
}

/**
 * An account that sends transactions to vaults: cancellations, where it holds `CANCELLER_ROLE`, or a pause, where it
 * holds `PAUSER_ROLE`. It needs some of the chain's coin for gas. Its results are no evidence: VaultReader finds what
 * became of a transaction.
 */
export class VaultAccount extends SendingAccount {
  /** @throws PermanentError where the text is not a key; the message does not repeat it */
  constructor(private readonly options: VaultAccountOptions) {
    super(options);
  }

  /**
   * Sends the transaction and does not wait for it. A second cancellation fails on chain and changes nothing.
   * @returns the hash of the transaction
   * @throws ExecutionRevertedError where the vault would refuse: claimed or cancelled already, or without the role
   * @throws GasRefusedError, AllEndpointsFailedError
   */
  async cancel(vault: Address, vaultId: VaultId): Promise<string> {
    const data = cancelCalldata(vaultId);
    return this.send(vault, data, await this.quotes.affordable({ to: vault, data }));
  }

  /**
   * Asks every endpoint separately, so that no endpoint can keep the vault from being paused; every transaction but the
   * first fails on chain. The cheapest quote is sent first, so that an endpoint with a false price within the limit
   * cannot use up the day's coin before.
   * @returns how many endpoints took a transaction, 1 at least
   * @throws ExecutionRevertedError where the vault is paused already, or without the role; GasRefusedError,
   * AllEndpointsFailedError
   */
  async pause(vault: Address): Promise<number> {
    const data = pauseCalldata();
    const { endpoints } = this.options.pool;
    const failures: LowmarkError[] = [];
    const quotes: GasQuote[] = [];
    let sent = 0;
    for (const only of endpoints) {
      await collectFailure(failures, async () => {
        const quote = await this.quotes.quote({ to: vault, data }, { only });
        const fault = this.quotes.faultOf(quote);
        if (fault) throw fault;
        quotes.push(quote);
      });
    }
    quotes.sort((one, other) => (one.gasPrice * one.gas < other.gasPrice * other.gas ? -1 : 1));
    for (const quote of quotes) {
      await collectFailure(failures, async () => {
        await this.send(vault, data, quote, quote.endpoint);
        sent++;
      });
    }
    const [failure] = failures;
    if (failure && sent === 0) throw failure;
    return sent;
  }

  /** Signs the transaction once, whichever endpoint takes it. @param only the endpoint to send it by */
  private async send(to: Address, data: Hex, quote: GasQuote, only?: string): Promise<string> {
    const { pool, reserve } = this.options;
    const { nonce, gasPrice, gas } = quote;
    await reserve(gasPrice * gas);
    const { raw, hash } = await this.sign({ to, nonce, gasPrice, gas, data });
    await pool.run(
      async (session) => {
        const call = { method: 'eth_sendRawTransaction', params: [raw] };
        const [result] = (await session.batch([call])).results;
        if (!isKnownTransaction(result)) valueOf(result);
      },
      { only },
    );
    return hash;
  }
}

async function collectFailure(failures: LowmarkError[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    failures.push(error);
  }
}
