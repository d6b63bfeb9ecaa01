import { type PrivateKeyAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import { type Address, type BlockHash } from '#libs/domain';
import { RpcRefusedError } from '../rpc/rpc.errors.js';
import { type RpcResult } from '../rpc/rpc-call.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { GasQuotes } from './gas-quotes.js';
import { accountOf, addressOfAccount } from './private-key.js';
import { type Hex } from '../rpc/hex.js';

export interface SendingAccountOptions {
  readonly pool: RpcPool;
  readonly chainId: number;
  /** 64 hex digits. */
  readonly privateKey: string;
  /** The most that one transaction may cost. */
  readonly maxWei: bigint;
}

/** Everything that a signature covers, besides the chain. The same fields always give the same bytes (RFC 6979). */
export interface UnsignedTransaction {
  readonly to: Address;
  readonly nonce: number;
  /** Wei per unit of gas. */
  readonly gasPrice: bigint;
  readonly gas: bigint;
  /** Hex. */
  readonly data: string;
}

export interface SignedTransaction {
  readonly hash: BlockHash;
  readonly raw: Hex;
}

/**
 * An account that sends legacy transactions, which every chain accepts, at the prices that nodes quote, within
 * `maxWei`.
 */
export class SendingAccount {
  readonly address: Address;
  protected readonly quotes: GasQuotes;
  /** A true private field, so that neither printing nor serialising the account shows the key. */
  readonly #account: PrivateKeyAccount;
  private readonly chainId: number;

  /** @throws PermanentError where the text is not a key; the message does not repeat it */
  constructor({ pool, chainId, privateKey, maxWei }: SendingAccountOptions) {
    this.#account = accountOf(privateKey);
    this.address = addressOfAccount(this.#account);
    this.chainId = chainId;
    this.quotes = new GasQuotes({ pool, account: this.address, maxWei });
  }

  protected async sign({
    to,
    nonce,
    gasPrice,
    gas,
    data,
  }: UnsignedTransaction): Promise<SignedTransaction> {
    const raw = await this.#account.signTransaction({
      ...{ type: 'legacy', chainId: this.chainId, nonce, gasPrice, gas },
      to: to as Hex,
      data: data as Hex,
    });
    return { raw, hash: keccak256(raw) as string as BlockHash };
  }
}

const KNOWN = /already known|known transaction|already imported/i;

export function isKnownTransaction(result: RpcResult | undefined): boolean {
  return (
    result?.ok === false &&
    result.error instanceof RpcRefusedError &&
    KNOWN.test(result.error.message)
  );
}
