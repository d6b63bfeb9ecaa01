import { type PrivateKeyAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import { type Address } from '#libs/domain';
import { MalformedAnswerError, RpcRefusedError } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { quantity } from '../shape/hex.js';
import { cancelCalldata } from './vault-calldata.js';
import { type VaultId } from './vault-id.js';
import { type VaultPlace } from './voucher.js';
import { accountOf } from './voucher-signer.js';

type Hex = `0x${string}`;

const KNOWN = /already known|known transaction|already imported/i;

/**
 * Asks the vault to cancel redemptions, from an account that holds `CANCELLER_ROLE` and some of the chain's coin for gas. Nothing
 * here is evidence: only a final cancellation is, which VaultReader finds.
 */
export class VaultCanceller {
  readonly address: Address;
  readonly #account: PrivateKeyAccount;

  /** @throws PermanentError where it is not a key; the message does not repeat it */
  constructor(
    private readonly pool: RpcPool,
    private readonly place: VaultPlace,
    privateKey: string,
  ) {
    this.#account = accountOf(privateKey);
    this.address = this.#account.address.toLowerCase() as Address;
  }

  /**
   * Sends the transaction and does not wait for it. Sent twice, the second one fails on chain and changes nothing.
   * @returns the hash
   * @throws ExecutionRevertedError where the vault would refuse: claimed or cancelled already, or without the role
   * @throws AllEndpointsFailedError
   */
  cancel(vaultId: VaultId): Promise<string> {
    return this.pool.run(async (session) => {
      const raw = await this.signed(session, cancelCalldata(vaultId));
      const { results } = await session.batch([
        { method: 'eth_sendRawTransaction', params: [raw] },
      ]);
      const [result] = results;
      const known =
        result?.ok === false &&
        result.error instanceof RpcRefusedError &&
        KNOWN.test(result.error.message);
      if (!known) valueOf(result);
      return keccak256(raw);
    });
  }

  /** A legacy transaction, which every chain takes, at half more than the going price. */
  private async signed(session: RpcSession, data: Hex): Promise<Hex> {
    const { vault: to, chainId } = this.place;
    const { results } = await session.batch([
      { method: 'eth_getTransactionCount', params: [this.address, 'pending'] },
      { method: 'eth_gasPrice', params: [] },
      { method: 'eth_estimateGas', params: [{ from: this.address, to, data }] },
    ]);
    const [nonce, price, gas] = results.map((result) => quantity(valueOf(result)));
    if (nonce === undefined || price === undefined || gas === undefined) {
      throw new MalformedAnswerError('a nonce, price or amount of gas is no number', session);
    }
    return this.#account.signTransaction({
      type: 'legacy',
      chainId,
      nonce,
      gasPrice: (BigInt(price) * 3n) / 2n,
      gas: (BigInt(gas) * 5n) / 4n,
      to: to as Hex,
      data,
    });
  }
}
