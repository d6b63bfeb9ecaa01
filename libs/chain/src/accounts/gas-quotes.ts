/** The cost of a transaction as nodes quote it, bounded by our own caps. */
import { formatGwei } from 'viem/utils';
import { type Address, RetryableError } from '#libs/domain';
import { MalformedAnswerError, unlessAllFail } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { quantity, wideQuantity } from '../shape/hex.js';

/** The highest cost of one transaction, whatever price a node quotes. */
export interface GasCaps {
  /** Per unit of gas, in the smallest unit of the chain's coin (wei). */
  readonly maxGasPrice: bigint;
  readonly maxGas: bigint;
}

/** The names of the caps in errors: the settings that they come from. */
export interface CapNames {
  readonly code: string;
  readonly gasPrice: string;
  readonly gas: string;
}

export interface GasQuote {
  readonly endpoint: string;
  /** The account's next nonce by the node, after the transactions that wait. */
  readonly nonce: number;
  readonly gasPrice: bigint;
  readonly gas: bigint;
}

interface QuotedCall {
  readonly to: Address;
  /** Hex. */
  readonly data: string;
  /** Gas of the call, where known; otherwise the node estimates it. */
  readonly gas?: bigint;
}

type GasFigure = 'gas-price' | 'gas' | 'coin';

/** A transaction would cost more than the settings allow. Nothing was signed. */
export class GasRefusedError extends RetryableError {
  constructor(
    readonly figure: GasFigure,
    message: string,
    code = 'VAULT_GAS_REFUSED',
  ) {
    super(code, message);
  }
}

interface QuotesOptions {
  readonly pool: RpcPool;
  readonly account: Address;
  readonly caps: GasCaps;
  readonly names: CapNames;
}

export class GasQuotes {
  constructor(private readonly options: QuotesOptions) {}

  /**
   * A quote within the caps. Where the quote of the first endpoint exceeds a cap another endpoint is asked as well,
   * because one endpoint alone must not keep a transaction from being sent.
   * @throws GasRefusedError where the call would exceed a cap; ExecutionRevertedError where the contract would refuse
   * it; AllEndpointsFailedError
   */
  async affordable(call: QuotedCall): Promise<GasQuote> {
    const { pool } = this.options;
    const first = await this.quote(call);
    const fault = this.faultOf(first);
    if (!fault) return first;
    if (pool.endpoints.length < 2) throw fault;
    const others = { avoid: [first.endpoint], patienceMs: 0 };
    const second = await unlessAllFail(this.quote(call, others));
    if (!second || this.faultOf(second)) throw fault;
    return second;
  }

  /** The quote of one endpoint, within the caps or not. */
  quote({ to, data, gas: known }: QuotedCall, options: RunOptions = {}): Promise<GasQuote> {
    const { pool, account } = this.options;
    return pool.run(async (session) => {
      const { results } = await session.batch([
        { method: 'eth_getTransactionCount', params: [account, 'pending'] },
        { method: 'eth_gasPrice', params: [] },
        ...(known === undefined
          ? [{ method: 'eth_estimateGas', params: [{ from: account, to, data }] }]
          : []),
      ]);
      const [nonce, price, gas] = results.map(valueOf);
      const count = quantity(nonce);
      const [gasPrice, limit] = [wideQuantity(price), known ?? wideQuantity(gas)];
      if (count === undefined || gasPrice === undefined || limit === undefined) {
        throw new MalformedAnswerError('a nonce, price or amount of gas is no number', session);
      }
      return { endpoint: session.endpoint, nonce: count, gasPrice, gas: limit };
    }, options);
  }

  faultOf({ endpoint, gasPrice, gas }: GasQuote): GasRefusedError | undefined {
    const { caps, names } = this.options;
    const { maxGasPrice, maxGas } = caps;
    if (gasPrice > maxGasPrice) {
      const [asked, cap] = [formatGwei(gasPrice), formatGwei(maxGasPrice)];
      return new GasRefusedError(
        'gas-price',
        `${endpoint} says that gas costs ${asked} gwei, above the ${cap} of ${names.gasPrice}`,
        names.code,
      );
    }
    if (gas <= maxGas) return undefined;
    return new GasRefusedError(
      'gas',
      `${endpoint} says that it takes ${gas.toString()} gas, above the ${maxGas.toString()} of ${names.gas}`,
      names.code,
    );
  }

  /** Half more than the quoted price and a quarter more than the estimated gas, within the caps. */
  priced(quote: GasQuote): GasQuote {
    const { maxGasPrice, maxGas } = this.options.caps;
    return {
      ...quote,
      gasPrice: least((quote.gasPrice * 3n) / 2n, maxGasPrice),
      gas: least((quote.gas * 5n) / 4n, maxGas),
    };
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
