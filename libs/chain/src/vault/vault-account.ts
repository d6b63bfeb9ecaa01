import { type PrivateKeyAccount } from 'viem/accounts';
import { formatGwei, keccak256 } from 'viem/utils';
import { type Address, LowmarkError, RetryableError } from '#libs/domain';
import {
  AllEndpointsFailedError,
  MalformedAnswerError,
  RpcRefusedError,
} from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession, type RunOptions } from '../rpc/rpc-pool.js';
import { quantity } from '../shape/hex.js';
import { accountOf, addressOfAccount, cancelCalldata, pauseCalldata } from './voucher.js';
import { type VaultId } from './vault-event.js';

type Hex = `0x${string}`;

/** What one transaction may cost, whatever a node says of the price. */
export interface GasCaps {
  /** Per unit of gas, in the smallest unit of the chain's coin (wei). */
  readonly maxGasPrice: bigint;
  readonly maxGas: bigint;
}

export interface VaultAccountOptions {
  readonly pool: RpcPool;
  readonly chainId: number;
  /** 64 hex digits. */
  readonly privateKey: string;
  readonly caps: GasCaps;
  /** Counts the most that a transaction can cost, in wei, before it is signed. @throws GasRefusedError */
  readonly reserve: (wei: bigint) => Promise<void>;
}

interface Quote {
  readonly endpoint: string;
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly gas: bigint;
}

interface Sending {
  readonly quote: Quote;
  /** The only endpoint to send it by. */
  readonly only?: string;
}

type GasFigure = 'gas-price' | 'gas' | 'coin';

/** A transaction would cost more than the settings allow. Nothing was signed. */
export class GasRefusedError extends RetryableError {
  constructor(
    readonly figure: GasFigure,
    message: string,
  ) {
    super('VAULT_GAS_REFUSED', message);
  }
}

const KNOWN = /already known|known transaction|already imported/i;

/**
 * An account that sends transactions to vaults: cancellations, from one that holds `CANCELLER_ROLE`, or a pause, from one that holds
 * `PAUSER_ROLE`. It needs some of the chain's coin for gas. Nothing here is evidence: VaultReader finds what came of it.
 */
export class VaultAccount {
  readonly address: Address;
  readonly #account: PrivateKeyAccount;

  /** @throws PermanentError where it is not a key; the message does not repeat it */
  constructor(private readonly options: VaultAccountOptions) {
    this.#account = accountOf(options.privateKey);
    this.address = addressOfAccount(this.#account);
  }

  /**
   * Sends the transaction and does not wait for it. Sent twice, the second one fails on chain and changes nothing.
   * @returns the hash
   * @throws ExecutionRevertedError where the vault would refuse: claimed or cancelled already, or without the role
   * @throws GasRefusedError, AllEndpointsFailedError
   */
  async cancel(vault: Address, vaultId: VaultId): Promise<string> {
    const data = cancelCalldata(vaultId);
    return this.send(vault, data, { quote: await this.affordable(vault, data) });
  }

  /**
   * Asks every endpoint by itself, so that none of them can keep the vault from being paused; what comes second fails on chain. The
   * cheapest offer is sent first: a node that lies within the caps must not use up the day's coin before.
   * @returns how many took a transaction, 1 at least
   * @throws ExecutionRevertedError where it is paused already, or without the role; GasRefusedError, AllEndpointsFailedError
   */
  async pause(vault: Address): Promise<number> {
    const data = pauseCalldata();
    const { endpoints } = this.options.pool;
    const failures: LowmarkError[] = [];
    const quotes: Quote[] = [];
    let sent = 0;
    for (const only of endpoints) {
      await noting(failures, async () => {
        const quote = await this.quote(vault, data, { only });
        const fault = this.faultOf(quote);
        if (fault) throw fault;
        quotes.push(quote);
      });
    }
    quotes.sort((one, other) => (one.gasPrice * one.gas < other.gasPrice * other.gas ? -1 : 1));
    for (const quote of quotes) {
      await noting(failures, async () => {
        await this.send(vault, data, { quote, only: quote.endpoint });
        sent++;
      });
    }
    const [failure] = failures;
    if (failure && sent === 0) throw failure;
    return sent;
  }

  /** A legacy transaction, which every chain takes. It is signed once, whichever endpoint takes it. */
  private async send(vault: Address, data: Hex, { quote, only }: Sending): Promise<string> {
    const { pool, chainId, reserve } = this.options;
    const { nonce, gasPrice, gas } = this.priced(quote);
    await reserve(gasPrice * gas);
    const to = vault as Hex;
    const raw = await this.#account.signTransaction({
      type: 'legacy',
      chainId,
      nonce,
      gasPrice,
      gas,
      to,
      data,
    });
    await pool.run((session) => deliver(session, raw), only === undefined ? {} : { only });
    return keccak256(raw);
  }

  /** One endpoint alone must not keep a transaction from being sent: another one, where there is one, is asked as well. */
  private async affordable(vault: Address, data: Hex): Promise<Quote> {
    const first = await this.quote(vault, data);
    const fault = this.faultOf(first);
    if (!fault) return first;
    if (this.options.pool.endpoints.length < 2) throw fault;
    const others = { avoid: [first.endpoint], patient: false };
    const second = await this.quote(vault, data, others).catch((error: unknown) => {
      if (error instanceof AllEndpointsFailedError) throw fault;
      throw error;
    });
    if (this.faultOf(second)) throw fault;
    return second;
  }

  private quote(vault: Address, data: Hex, options: RunOptions = {}): Promise<Quote> {
    return this.options.pool.run(async (session) => {
      const { results } = await session.batch([
        { method: 'eth_getTransactionCount', params: [this.address, 'pending'] },
        { method: 'eth_gasPrice', params: [] },
        { method: 'eth_estimateGas', params: [{ from: this.address, to: vault, data }] },
      ]);
      const [nonce, price, gas] = results.map((result) => valueOf(result));
      const count = quantity(nonce);
      const [gasPrice, limit] = [wide(price), wide(gas)];
      if (count === undefined || gasPrice === undefined || limit === undefined) {
        throw new MalformedAnswerError('a nonce, price or amount of gas is no number', session);
      }
      return { endpoint: session.endpoint, nonce: count, gasPrice, gas: limit };
    }, options);
  }

  private faultOf({ endpoint, gasPrice, gas }: Quote): GasRefusedError | undefined {
    const { maxGasPrice, maxGas } = this.options.caps;
    if (gasPrice > maxGasPrice) {
      const [asked, cap] = [formatGwei(gasPrice), formatGwei(maxGasPrice)];
      return new GasRefusedError(
        'gas-price',
        `${endpoint} says that gas costs ${asked} gwei, above the ${cap} of VAULT_MAX_GAS_PRICE_GWEI`,
      );
    }
    if (gas <= maxGas) return undefined;
    return new GasRefusedError(
      'gas',
      `${endpoint} says that it takes ${gas.toString()} gas, above the ${maxGas.toString()} of VAULT_MAX_GAS`,
    );
  }

  /** At half more than the going price and a quarter more gas than estimated, within the caps. */
  private priced(quote: Quote): Quote {
    const { maxGasPrice, maxGas } = this.options.caps;
    return {
      ...quote,
      gasPrice: least((quote.gasPrice * 3n) / 2n, maxGasPrice),
      gas: least((quote.gas * 5n) / 4n, maxGas),
    };
  }
}

async function noting(failures: LowmarkError[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LowmarkError)) throw error;
    failures.push(error);
  }
}

async function deliver(session: RpcSession, raw: Hex): Promise<void> {
  const { results } = await session.batch([{ method: 'eth_sendRawTransaction', params: [raw] }]);
  const [result] = results;
  const isKnown =
    result?.ok === false &&
    result.error instanceof RpcRefusedError &&
    KNOWN.test(result.error.message);
  if (!isKnown) valueOf(result);
}

/** A quantity of any size: a price may pass 2^53. */
function wide(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
